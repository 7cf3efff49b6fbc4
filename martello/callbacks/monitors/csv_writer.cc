#include <martello/callbacks/monitors/internal/pending_scalars.h>
#include <martello/callbacks/monitors/internal/row_file.h>
#include <martello/callbacks/monitors/writers.h>

#include <charconv>

namespace martello {
namespace {

constexpr std::string_view kHeader = "epoch_num,global_step,class,name,value\n";

// As RFC 4180 says.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string field = "\"";
  for (char c : text) field += c == '"' ? std::string("\"\"") : std::string(1, c);
  return field += '"';
}

std::optional<int64_t> epoch_of(const std::string& row) {
  int64_t epoch = 0;
  const auto [end, status] = std::from_chars(row.data(), row.data() + row.size(), epoch);
  return status == std::errc() && *end == ',' ? std::optional(epoch) : std::nullopt;
}

}  // namespace

struct CSVWriter::Impl {
  std::string dir;
  bool is_off = false;
  internal::PendingScalars scalars;
  internal::RowFile file;
};

CSVWriter::CSVWriter(std::string dir) : impl_(make_owned<Impl>()) { impl_->dir = std::move(dir); }
CSVWriter::CSVWriter(CSVWriter&&) noexcept = default;
CSVWriter::~CSVWriter() = default;

void CSVWriter::setup_graph() {
  const auto dir = internal::find_writer_dir(impl_->dir, name());
  impl_->is_off = !dir.has_value();
  if (dir) impl_->dir = *dir;
}

void CSVWriter::before_train() {
  if (impl_->is_off) return;
  const std::string path = impl_->dir + "/stats.csv";
  internal::continue_or_move(path, context().loop().starting_epoch, name(), epoch_of);
  impl_->file.open(path);
  if (impl_->file.size() == 0) impl_->file.add(kHeader);
  add_rows();
}

void CSVWriter::process_scalar(std::string_view name, double value) {
  if (!impl_->is_off) impl_->scalars.put(name, value);
}

void CSVWriter::process_volatile(std::string_view name, double value) {
  if (!impl_->is_off) impl_->scalars.put(name, value, ScalarClass::volatile_);
}

void CSVWriter::add_rows() {
  for (size_t i = 0; i < impl_->scalars.size(); ++i) {
    const auto& s = impl_->scalars[i];
    impl_->file.add(str(epoch_num(), ",", global_step(), ",", s.kind, ",", csv_field(s.name), ",", s.value, "\n"));
  }
  impl_->scalars.clear();
  impl_->file.write();
}

void CSVWriter::trigger_step() {
  if (!context().loop().is_last_step()) add_rows();
}

void CSVWriter::trigger_epoch() { add_rows(); }

void CSVWriter::after_train() {
  add_rows();
  impl_->file.close();
}

void CSVWriter::flush() {
  add_rows();
  impl_->file.flush();
}

}  // namespace martello
