#include "command.h"
#include "tensor_file.h"

#include <filesystem>

namespace martello::tools {
namespace {

// A line of a directory. Whatever cannot be read is listed with the reason.
Json checkpoint_json(const std::string& path) {
  Json row{{"file", path}, {"step", step_of(path)}, {"bytes", std::filesystem::file_size(path)}};
  try {
    const TensorFile file = open_tensor_file(path);
    row["tensors"] = file.entries.size();
    row["parameters"] = file.num_elements();
    row["metadata"] = file.metadata;
    row["metadata"].erase("martello.graph");
  } catch (const Error& e) {
    row["error"] = e.what();
  }
  return row;
}

// Of a text of several lines, for a table.
std::string one_line(const std::string& text) {
  std::vector<std::string> lines = split(text, '\n');
  for (std::string& line : lines) line.erase(0, line.find_first_not_of(' '));
  return join(lines);
}

std::string note_of(const Json& row) {
  if (row.contains("error")) return "unreadable: " + one_line(row["error"].get<std::string>());
  const Json& m = row["metadata"];
  std::string note;
  if (m.contains("epoch_num")) note += str("epoch ", m["epoch_num"].get<std::string>());
  for (const char* key : {"end", "best"})
    if (m.contains(key) && !m[key].get<std::string>().empty())
      note += str(note.empty() ? "" : ", ", one_line(m[key].get<std::string>()));
  return note;
}

Report list_directory(const std::string& dir) {
  const std::vector<std::string> files = checkpoints_of(dir);
  if (files.empty()) throw NotFound(str("'", dir, "' has no checkpoint (model-<step>.safetensors)."));
  Report report{.text = {}, .json = {{"directory", dir}, {"checkpoints", Json::array()}}};
  std::vector<std::vector<std::string>> rows = {{"step", "size", "file", ""}};
  for (const std::string& f : files) {
    const Json row = checkpoint_json(f);
    rows.push_back({str(step_of(f)), human_bytes(row["bytes"].get<int64_t>()),
                    std::filesystem::path(f).filename().string(), note_of(row)});
    if (row.contains("error")) report.code = kDifferent;
    report.json["checkpoints"].push_back(row);
  }
  report.text = table(rows, {0, 1});
  return report;
}

Report list_tensors(const std::string& path, bool all) {
  const TensorFile file = open_tensor_file(path);
  Report report{.text = {}, .json = {{"file", path}, {"format", file.format}, {"tensors", Json::array()}}};
  std::vector<std::vector<std::string>> rows;
  for (const TensorEntry& e : file.entries) {
    report.json["tensors"].push_back(
        {{"name", e.name}, {"dtype", str(e.dtype)}, {"shape", e.shape.symbolic()}, {"bytes", e.bytes()}});
    if (all || !is_reserved(e.name)) rows.push_back({e.name, e.spec(), human_bytes(e.bytes())});
  }
  report.json["parameters"] = file.num_elements();
  const size_t hidden = file.entries.size() - rows.size();
  report.text =
      table(rows, {2}) + str(rows.size(), " tensors, ", file.num_elements(), " numbers, ", human_bytes(file.bytes()),
                             hidden > 0 ? str("; ", hidden, " of the run itself (--all)") : "", "\n");
  return report;
}

Report run(const Args& args) {
  const std::string& path = args.operands()[0];
  if (!std::filesystem::exists(path)) throw NotFound(str("there is no file or directory '", path, "'."));
  return std::filesystem::is_directory(path) ? list_directory(path) : list_tensors(path, args.has("all"));
}

}  // namespace

Command ls_command() {
  return {.name = "ls",
          .operands = "DIR|FILE",
          .summary = "List the checkpoints of a directory, or the tensors of a file.",
          .help =
              "Files are .safetensors or .npz. A checkpoint of a directory that cannot be read is listed with the\n"
              "reason, and the exit code is 1.\n",
          .options = {{"all", "", "also tensors that hold the state of a run instead of a variable"}},
          .run = run};
}

}  // namespace martello::tools
