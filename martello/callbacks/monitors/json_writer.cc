#include <martello/callbacks/monitors/internal/pending_scalars.h>
#include <martello/callbacks/monitors/internal/row_file.h>
#include <martello/callbacks/monitors/stats_file.h>
#include <martello/callbacks/monitors/writers.h>

namespace martello {

struct JSONWriter::Impl {
  std::string dir;
  bool is_off = false;
  internal::PendingScalars scalars;
  internal::RowFile file;
};

JSONWriter::JSONWriter(std::string dir) : impl_(make_owned<Impl>()) { impl_->dir = std::move(dir); }
JSONWriter::JSONWriter(JSONWriter&&) noexcept = default;
JSONWriter::~JSONWriter() = default;

void JSONWriter::setup_graph() {
  const auto dir = internal::find_writer_dir(impl_->dir, name());
  impl_->is_off = !dir.has_value();
  if (dir) impl_->dir = *dir;
}

void JSONWriter::before_train() {
  if (impl_->is_off) return;
  const std::string path = str(impl_->dir, "/", kStatsFile);
  internal::continue_or_move(path, context().loop().starting_epoch, name(),
                             [](const std::string& row) { return parse_stats_line(row).epoch_num; });
  impl_->file.open(path);
  add_row();
}

void JSONWriter::process_scalar(std::string_view name, double value) {
  if (!impl_->is_off) impl_->scalars.put(name, value);
}

void JSONWriter::process_volatile(std::string_view name, double value) {
  if (!impl_->is_off) impl_->scalars.put(name, value, ScalarClass::volatile_);
}

void JSONWriter::add_row() {
  if (impl_->scalars.empty()) return;
  StatsRow row = {epoch_num(), global_step(), {}, {}};
  for (size_t i = 0; i < impl_->scalars.size(); ++i) {
    const auto& s = impl_->scalars[i];
    (s.kind == ScalarClass::run ? row.scalars : row.volatile_scalars).emplace_back(s.name, s.value);
  }
  impl_->scalars.clear();
  impl_->file.add(stats_line(row) + "\n");
  impl_->file.write();
}

// Scalars of the last step go into the row of the epoch.
void JSONWriter::trigger_step() {
  if (!context().loop().is_last_step()) add_row();
}

void JSONWriter::trigger_epoch() { add_row(); }

void JSONWriter::after_train() {
  add_row();
  impl_->file.close();
}

void JSONWriter::flush() {
  add_row();
  impl_->file.flush();
}

}  // namespace martello
