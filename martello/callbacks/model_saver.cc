#include <martello/callbacks/model_saver.h>

#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/base/logger_dir.h>
#include <martello/base/state.h>
#include <martello/codec/safetensors.h>
#include <martello/graph/collections.h>
#include <martello/loop/commit_point.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>

namespace martello {
namespace {

namespace fs = std::filesystem;

std::string checked_dir(const std::string& given) {
  const auto found = given.empty() ? logger::find_logger_dir() : given;
  if (!found)
    throw FailedPrecondition(
        "[ModelSaver] has no directory to save to. Call logger::auto_set_dir() before training, or set .dir.");
  std::error_code failure;
  fs::create_directories(*found, failure);
  MARTELLO_CHECK(!failure, "[ModelSaver] cannot make the directory '", *found, "': ", failure.message(), ".");
  MARTELLO_CHECK(access(found->c_str(), W_OK | X_OK) == 0, "[ModelSaver] the directory '", *found,
                 "' cannot be written to.");
  return *found;
}

std::vector<NamedTensor> values_of(const std::vector<Variable>& variables, Session& session) {
  std::vector<NamedTensor> values;
  values.reserve(variables.size());
  for (const Variable& v : variables) values.push_back({v.handle().name(), session.get(v.handle())});
  return values;
}

// Older files may go only when the new one can be read.
void check_readable(const std::string& path, size_t tensors) {
  const SafetensorsFile file(path);
  MARTELLO_ASSERT(file.entries().size() == tensors, "'", path, "' has ", file.entries().size(), " tensors of ", tensors,
                  " that were written.");
}

}  // namespace

ModelSaver::ModelSaver(ModelSaverOptions options, SourceLine line) : options_(std::move(options)) {
  with_line(line, [&] {
    MARTELLO_CHECK(options_.max_to_keep >= 0, "[ModelSaver] .max_to_keep is ", options_.max_to_keep,
                   " but cannot be below 0. 0 keeps all.");
  });
}

void ModelSaver::setup_graph() { options_.dir = checked_dir(options_.dir); }

void ModelSaver::trigger() {
  context().commit_point().request(str(name(), " of '", options_.dir, "'"),
                                   [this](const CommitPoint::Commit&) { save(); });
}

void ModelSaver::save() {
  const std::string file = str("model-", global_step(), ".safetensors"), path = str(options_.dir, "/", file);
  const auto values = values_of(context().graph().collections().get(kGlobalVariables), sess());
  write_safetensors(path, values, {{"global_step", str(global_step())}});
  check_readable(path, values.size());
  std::erase(kept_, file);
  kept_.push_back(file);
  delete_old();
  logger::info("[ModelSaver] saved '", path, "'.");
}

void ModelSaver::delete_old() {
  if (options_.max_to_keep == 0) return;
  while (static_cast<int64_t>(kept_.size()) > options_.max_to_keep) {
    const std::string path = str(options_.dir, "/", kept_.front());
    std::error_code failure;
    fs::remove(path, failure);
    if (failure) logger::warn("[ModelSaver] cannot delete '", path, "': ", failure.message(), ".");
    kept_.erase(kept_.begin());
  }
}

void ModelSaver::state(State& s) { s("kept", kept_); }

}  // namespace martello
