#include <martello/base/log.h>
#include <martello/base/state.h>
#include <martello/callbacks/monitors/internal/graph_nodes.h>
#include <martello/callbacks/monitors/internal/row_file.h>
#include <martello/callbacks/monitors/writers.h>
#include <martello/codec/event_encoder.h>

#include <time.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <set>

namespace martello {
namespace {

constexpr size_t kMostPendingBytes = 1 << 20;

double now() {
  timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// TensorBoard takes files whose name has "tfevents" in it, and reads them in the order of their names. All files of a
// run begin alike, also those of a resumed one.
std::string name_of_run() {
  char host[256] = "localhost", text[512];
  gethostname(host, sizeof host - 1);
  snprintf(text, sizeof text, "events.out.tfevents.%010lld.%s.%d", static_cast<long long>(now()), host, getpid());
  return text;
}

std::string file_name(const std::string& run, int64_t number) {
  char text[32];
  snprintf(text, sizeof text, ".%05lld", static_cast<long long>(number));
  return run + text;
}

// Of the files of one run; nothing for another's.
std::optional<int64_t> number_of(std::string_view name, const std::string& run) {
  if (!name.starts_with(run) || name.size() < run.size() + 2 || name[run.size()] != '.') return std::nullopt;
  int64_t number = 0;
  const auto [end, status] = std::from_chars(name.data() + run.size() + 1, name.data() + name.size(), number);
  return status == std::errc() && end == name.data() + name.size() ? std::optional(number) : std::nullopt;
}

// A run that goes on from a checkpoint writes them again.
void delete_files_from(int64_t first, const std::string& dir, const std::string& run) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(dir)) {
    const auto number = number_of(entry.path().filename().string(), run);
    if (number && *number >= first) paths.push_back(entry.path());
  }
  for (const auto& path : paths) std::filesystem::remove(path);
  if (!paths.empty())
    logger::info("[TFEventWriter] ", paths.size(), " files of epochs after the checkpoint are deleted from '", dir,
                 "'.");
}

constexpr std::string_view kBegin = "events.out.tfevents.", kOldBegin = "events.out.old.";

// TensorBoard would show them besides those of this run.
void put_others_aside(const std::string& dir, const std::string& own) {
  for (const auto& entry : std::filesystem::directory_iterator(dir)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kBegin) || entry.path().string() == own) continue;
    const std::string moved = str(kOldBegin, name.substr(kBegin.size()));
    std::filesystem::rename(entry.path(), str(dir, "/", moved));
    logger::info("[TFEventWriter] '", name, "' is of an attempt that left no checkpoint: it is now '", moved, "'.");
  }
}

HostTensor image_of(const HostTensor& images, int64_t i) {
  const Shape& s = images.shape();
  HostTensor one(Shape(s[1], s[2], s[3]), u8);
  const auto from = images.data<uint8_t>().subspan(static_cast<size_t>(i * one.num_elements()));
  std::copy_n(from.begin(), one.num_elements(), one.mutable_data<uint8_t>().begin());
  return one;
}

}  // namespace

struct TFEventWriter::Impl {
  TFEventWriterOptions options;
  bool is_off = false, has_begun = false;
  std::string run = name_of_run();
  int64_t files = 0;
  std::optional<internal::FileMark> resumed = {};
  double written_at = 0;
  EventEncoder encoder;
  internal::RowFile file;
  std::set<std::string, std::less<>> warned = {};

  // Of a training that was refused at its start nothing stays.
  ~Impl() {
    if (files > 0 && !has_begun && !resumed) forget_file();
  }

  std::string path() const { return str(options.dir, "/", file_name(run, files - 1)); }
  void open() {
    ++files;
    file.open_new(path());
    begin();
  }
  void begin() {
    encoder.set_time(now(), 0);
    encoder.file_version();
    write();
  }
  // The file that was made when this process began, with nothing in it that counts.
  void forget_file() {
    encoder.clear();
    file.close();
    unlink(path().c_str());
  }
  void go_on_at(const internal::FileMark& mark) {
    encoder.clear();
    if (file.open_at(path(), mark)) return;
    begin();
    resumed = file.mark();
  }
  void take() {
    file.add(encoder.bytes());
    encoder.clear();
  }
  void write() {
    take();
    file.write();
    written_at = now();
  }
};

TFEventWriter::TFEventWriter(TFEventWriterOptions options) : impl_(make_owned<Impl>()) {
  MARTELLO_CHECK(options.flush_seconds >= 0, "[TFEventWriter] flush_seconds is ", options.flush_seconds, ".");
  impl_->options = std::move(options);
}
TFEventWriter::TFEventWriter(TFEventWriter&&) noexcept = default;
TFEventWriter::~TFEventWriter() = default;

bool TFEventWriter::is_off() const { return impl_->is_off; }
void TFEventWriter::stamp() { impl_->encoder.set_time(now(), global_step()); }

void TFEventWriter::setup_graph() {
  const auto dir = internal::find_writer_dir(impl_->options.dir, name());
  impl_->is_off = !dir.has_value();
  if (!dir) return;
  impl_->options.dir = *dir;
  impl_->open();
}

void TFEventWriter::before_train() {
  if (is_off()) return;
  impl_->has_begun = true;
  if (context().starts_over()) put_others_aside(impl_->options.dir, impl_->path());
  stamp();
  impl_->encoder.graph(internal::graph_nodes(context().graph()));
  impl_->write();
}

void TFEventWriter::process_scalar(std::string_view name, double value) {
  if (is_off()) return;
  stamp();
  impl_->encoder.scalar(name, value);
}

void TFEventWriter::process_image(std::string_view name, const HostTensor& images) {
  if (is_off()) return;
  stamp();
  const int64_t count = images.shape()[0];
  for (int64_t i = 0; i < count; ++i)
    impl_->encoder.image(count == 1 ? std::string(name) : str(name, "/", i), image_of(images, i));
}

void TFEventWriter::process_histogram(std::string_view name, const HostTensor& values) {
  if (is_off()) return;
  stamp();
  const Histogram h = histogram_of(values);
  if (h.left_out > 0 && impl_->warned.emplace(name).second)
    logger::warn("[TFEventWriter] histogram '", name, "' leaves out ", h.left_out, " of ", values.num_elements(),
                 " values that are not finite.");
  impl_->encoder.histogram(name, h);
}

void TFEventWriter::process_text(std::string_view name, std::string_view text) {
  if (is_off()) return;
  stamp();
  impl_->encoder.text(name, text);
}

void TFEventWriter::process_event(const Event& event) {
  if (!is_off()) impl_->encoder.event(event);
}

void TFEventWriter::trigger_step() {
  if (is_off() || impl_->encoder.bytes().empty()) return;
  const bool is_due = impl_->encoder.bytes().size() > kMostPendingBytes;
  if (is_due || now() - impl_->written_at >= impl_->options.flush_seconds) impl_->write();
}

void TFEventWriter::trigger_epoch() {
  if (is_off()) return;
  impl_->write();
  if (!impl_->options.split_files) return;
  impl_->file.close();
  impl_->open();
}

void TFEventWriter::after_train() {
  if (is_off()) return;
  impl_->take();
  impl_->file.close();
}

void TFEventWriter::state(State& s) {
  Impl& m = *impl_;
  internal::FileMark mark = m.file.mark();
  s("file", mark);
  if (s.restoring() && !is_off() && !m.resumed) m.forget_file();
  s("run", m.run);
  s("files", m.files);
  if (!s.restoring() || is_off()) return;
  if (m.files == 0) return m.open();  // the run that was saved had no directory
  delete_files_from(m.files, m.options.dir, m.run);
  if (!m.resumed) m.resumed = mark;
  m.go_on_at(*m.resumed);
}

void TFEventWriter::flush() {
  if (is_off()) return;
  impl_->take();
  impl_->file.flush();
}

}  // namespace martello
