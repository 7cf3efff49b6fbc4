#include <martello/callbacks/monitors/internal/pending_scalars.h>
#include <martello/callbacks/monitors/writers.h>

#include <charconv>

namespace martello {
namespace {

// As RFC 4180 says.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string field = "\"";
  for (char c : text) field += c == '"' ? std::string("\"\"") : std::string(1, c);
  return field += '"';
}

}  // namespace

CSVWriter::CSVWriter(std::string dir) : RowWriter(std::move(dir), "stats.csv") {}

std::string CSVWriter::header() const { return "epoch_num,global_step,class,name,value\n"; }

std::optional<int64_t> CSVWriter::epoch_of(const std::string& row) const {
  int64_t epoch = 0;
  const auto [end, status] = std::from_chars(row.data(), row.data() + row.size(), epoch);
  return status == std::errc() && *end == ',' ? std::optional(epoch) : std::nullopt;
}

std::string CSVWriter::rows_of(const internal::PendingScalars& scalars) const {
  std::string rows;
  for (size_t i = 0; i < scalars.size(); ++i) {
    const auto& s = scalars[i];
    rows += str(epoch_num(), ",", global_step(), ",", s.kind, ",", csv_field(s.name), ",", s.value, "\n");
  }
  return rows;
}

}  // namespace martello
