#include <martello/train/varmanip.h>

#include <martello/base/atomic_file.h>
#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/codec/npz.h>
#include <martello/codec/safetensors.h>
#include <martello/graph/collections.h>
#include <martello/train/checkpoint_contents.h>
#include <martello/train/internal/match_variables.h>

#include <filesystem>
#include <set>

namespace martello {

ValueMap load_checkpoint_vars(const std::string& path) {
  if (path.ends_with(".npz")) {
    const NamedTensors values = read_npz(path);
    return {values.begin(), values.end()};
  }
  const SafetensorsFile file(path);
  ValueMap values;
  for (const auto& entry : file.entries())
    if (!entry.name.starts_with(kCheckpointPrefix)) values[entry.name] = file.read(entry.name);
  return values;
}

void save_checkpoint_vars(const ValueMap& values, const std::string& path) {
  MARTELLO_CHECK(!path.ends_with(".npy"), "[save_checkpoint_vars '", path,
                 "'] an .npy file holds one tensor without a name. Use .npz or .safetensors.");
  if (path.ends_with(".npz")) {
    AtomicFile file(path);
    file.append(encode_npz({values.begin(), values.end()}));
    return file.commit();
  }
  std::vector<NamedTensor> tensors;
  for (const auto& [name, value] : values) {
    check_variable_name(name);  // readers would pass over it
    tensors.push_back({name, value});
  }
  write_safetensors(path, tensors, {}, {.checksums = true});
}

ValueMap session_params(Session& session) {
  const auto& lists = session.graph().collections();
  std::set<std::string> names;
  for (const auto key : {kTrainableVariables, kModelVariables})
    for (const Variable& v : lists.get(key)) names.insert(v.handle().name());
  ValueMap values;
  for (const Variable& v : lists.get(kGlobalVariables))
    if (names.contains(v.handle().name())) values[v.handle().name()] = session.get(v.handle());
  return values;
}

void dump_session_params(Session& session, const std::string& path) {
  const ValueMap values = session_params(session);
  save_checkpoint_vars(values, path);
  logger::info("[dump_session_params] ", values.size(), " variables are in '", path, "'.");
}

void update_session(Session& session, const ValueMap& values, MismatchOptions options) {
  std::vector<std::string> variables, names;
  for (const Variable& v : session.graph().collections().get(kGlobalVariables)) variables.push_back(v.handle().name());
  const std::set<std::string> known(variables.begin(), variables.end());
  for (const auto& [name, value] : values) {
    MARTELLO_CHECK(known.contains(name), "[update_session] '", name, "' is no GLOBAL variable of the graph.",
                   did_you_mean(name, variables));
    names.push_back(name);
  }
  if (names.empty()) return;
  set_matching(session, {"[update_session] ",
                         std::move(names),
                         [&](const std::string& n) { return values.at(n); },
                         {},
                         options.ignore_mismatch ? Fit::skip : Fit::relaxed});
}

std::string get_checkpoint_path(const std::string& path_or_dir) {
  if (!std::filesystem::is_directory(path_or_dir)) return SafetensorsFile(path_or_dir).path();
  for (const CheckpointFile& file : list_checkpoints(path_or_dir)) {
    if (file.info) return file.path;
    logger::error("[get_checkpoint_path] '", file.path, "' cannot be used: ", file.why);
  }
  throw NotFound(str("[get_checkpoint_path] the directory '", path_or_dir, "' has no checkpoint that can be read."));
}

}  // namespace martello
