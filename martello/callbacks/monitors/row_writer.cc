#include <martello/base/state.h>
#include <martello/callbacks/monitors/internal/pending_scalars.h>
#include <martello/callbacks/monitors/internal/row_file.h>
#include <martello/callbacks/monitors/writers.h>

namespace martello {

struct RowWriter::Impl {
  std::string dir, file_name;
  bool is_off = false;
  internal::PendingScalars scalars;
  internal::RowFile file;
  std::optional<internal::FileMark> resumed = {};  // where the file goes on

  std::string path() const { return str(dir, "/", file_name); }
};

RowWriter::RowWriter(std::string dir, std::string_view file_name) : impl_(make_owned<Impl>()) {
  impl_->dir = std::move(dir);
  impl_->file_name = file_name;
}
RowWriter::RowWriter(RowWriter&&) noexcept = default;
RowWriter::~RowWriter() = default;

void RowWriter::setup_graph() {
  const auto dir = internal::find_writer_dir(impl_->dir, name());
  impl_->is_off = !dir.has_value();
  if (dir) impl_->dir = *dir;
}

void RowWriter::before_train() {
  if (impl_->is_off) return;
  if (!impl_->resumed) {
    if (context().starts_over()) internal::put_aside(impl_->path(), name());
    internal::continue_or_move(impl_->path(), context().loop().starting_epoch, name(),
                               [this](const std::string& row) { return epoch_of(row); });
    impl_->file.open(impl_->path());
  } else if (!impl_->file.open_at(impl_->path(), *impl_->resumed)) {
    impl_->resumed = internal::FileMark();
  }
  if (impl_->file.size() == 0) impl_->file.add(header());
  add_rows();
}

void RowWriter::process_scalar(std::string_view name, double value) {
  if (!impl_->is_off) impl_->scalars.put(name, value);
}

void RowWriter::process_volatile(std::string_view name, double value) {
  if (!impl_->is_off) impl_->scalars.put(name, value, ScalarClass::volatile_);
}

void RowWriter::add_rows() {
  if (!impl_->scalars.empty()) impl_->file.add(rows_of(impl_->scalars));
  impl_->scalars.clear();
  impl_->file.write();
}

void RowWriter::trigger_step() {
  if (!context().loop().is_last_step()) add_rows();
}

void RowWriter::after_train() {
  if (!impl_->file.is_open()) return;
  add_rows();
  impl_->file.close();
}

void RowWriter::flush() { impl_->file.flush(); }

// Restored before before_train it only takes note; afterwards what that has written is dropped again.
void RowWriter::state(State& s) {
  internal::FileMark mark = impl_->file.mark();
  s("file", mark);
  s("row", impl_->scalars);
  if (!s.restoring() || impl_->is_off) return;
  if (!impl_->file.is_open()) {
    impl_->resumed = mark;
    return;
  }
  impl_->file.open_at(impl_->path(), impl_->resumed.value_or(mark));
  if (impl_->file.size() == 0) impl_->file.add(header());
}

}  // namespace martello
