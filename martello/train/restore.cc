#include <martello/train/restore.h>

#include <martello/base/error.h>
#include <martello/codec/npz.h>
#include <martello/codec/safetensors.h>
#include <martello/train/checkpoint_contents.h>
#include <martello/train/internal/match_variables.h>

#include <cstdlib>
#include <memory>

namespace martello {
namespace {

std::string title(const std::string& path) { return str("[restore '", path, "'] "); }

ValueSource source_of(const std::shared_ptr<const SafetensorsFile>& file, const RestoreOptions& options, Fit fit) {
  std::vector<std::string> names;
  for (const auto& e : file->entries())
    if (!e.name.starts_with(kCheckpointPrefix)) names.push_back(e.name);
  return {title(file->path()), std::move(names), [file](const std::string& name) { return file->read(name); }, options,
          fit};
}

ValueSource source_of(std::string who, const ValueMap& values, MismatchOptions options) {
  std::vector<std::string> names;
  for (const auto& [name, value] : values) names.push_back(name);
  return {std::move(who),
          std::move(names),
          [&values](const std::string& n) { return values.at(n); },
          {},
          options.ignore_mismatch ? Fit::skip : Fit::relaxed};
}

std::string checked_path(const std::string& path, SourceLine line) {
  return with_line(line, [&] {
    MARTELLO_CHECK(!path.empty(), "[restore] got an empty path.");
    MARTELLO_CHECK(!path.ends_with(".npz") && !path.ends_with(".npy"), title(path),
                   "is no safetensors file. SmartInit() reads .npz files.");
    return SafetensorsFile(path).path();
  });
}

// `~` is a shell's business, but paths often come from elsewhere.
std::string expanded(const std::string& path) {
  const char* home = std::getenv("HOME");
  return path.starts_with("~/") && home ? home + path.substr(1) : path;
}

}  // namespace

SaverRestore::SaverRestore(const std::string& path, RestoreOptions options, SourceLine line)
    : SaverRestore(path, std::move(options), Fit::exact, line) {}

SaverRestore::SaverRestore(const std::string& path, RestoreOptions options, Fit fit, SourceLine line)
    : path_(checked_path(path, line)), options_(std::move(options)), fit_(fit) {}

void SaverRestore::setup_graph() {
  const auto file = std::make_shared<const SafetensorsFile>(path_);
  for (const Match& m : match_variables(Graph::current(), source_of(file, options_, fit_))) {
    const auto& entry = *file->find(m.value);
    MARTELLO_CHECK(fit_ != Fit::exact || (entry.dtype == m.variable.dtype() && entry.shape == m.variable.shape()),
                   title(path_), "variable '", m.variable.name(), "' is ", m.variable.dtype(), m.variable.shape(),
                   " but its value is ", entry.dtype, entry.shape, ". Ignore it, or use SaverRestoreRelaxed.");
  }
}

void SaverRestore::run_init(Session& session) {
  restore_variables(session, source_of(std::make_shared<const SafetensorsFile>(path_), options_, fit_));
}

void DictRestore::run_init(Session& session) { restore_variables(session, source_of("[restore] ", values_, options_)); }

namespace {

class NpzRestore : public SessionInit {
 public:
  NpzRestore(const std::string& path, MismatchOptions options) : path_(path), options_(options) {
    const NamedTensors values = read_npz(path);
    values_ = ValueMap(values.begin(), values.end());
  }
  void run_init(Session& session) override { restore_variables(session, source_of(title(path_), values_, options_)); }

 private:
  std::string path_;
  ValueMap values_;
  MismatchOptions options_;
};

}  // namespace

ChainInit::ChainInit(std::vector<Ref<SessionInit>> inits, SourceLine line) : inits_(std::move(inits)) {
  with_line(line, [&] {
    for (size_t i = 0; i < inits_.size(); ++i)
      MARTELLO_CHECK(inits_[i], "[ChainInit] part ", i, " is null: it was never assigned.");
  });
}

void ChainInit::setup_graph() {
  for (const auto& i : inits_) i->setup_graph();
}

void ChainInit::run_init(Session& session) {
  for (const auto& i : inits_) i->run_init(session);
}

SmartInit::SmartInit(const std::string& path, MismatchOptions options, SourceLine line) {
  if (path.empty()) return;
  if (path.ends_with(".npz")) {
    init_ = with_line(line, [&] { return NpzRestore(expanded(path), options); });
    return;
  }
  if (options.ignore_mismatch) init_ = SaverRestoreRelaxed(expanded(path), {}, line);
  else init_ = SaverRestore(expanded(path), {}, line);
}

SmartInit::SmartInit(const std::vector<std::string>& paths, MismatchOptions options, SourceLine line) {
  std::vector<Ref<SessionInit>> inits;
  for (const std::string& path : paths) inits.push_back(SmartInit(path, options, line));
  init_ = ChainInit(std::move(inits), line);
}

SmartInit::SmartInit(ValueMap values, MismatchOptions options) : init_(DictRestore(std::move(values), options)) {}

void SmartInit::setup_graph() {
  if (init_) init_->setup_graph();
}

void SmartInit::run_init(Session& session) {
  if (init_) init_->run_init(session);
}

}  // namespace martello
