#include "command.h"
#include "tensor_file.h"

#include <martello/base/name_pattern.h>
#include <martello/codec/npz.h>
#include <martello/codec/safetensors.h>

#include <filesystem>
#include <optional>

namespace martello::tools {
namespace {

std::optional<NamePattern> pattern_of(const Args& args, const char* option) {
  const auto text = args.find(option);
  return text ? std::optional<NamePattern>(std::in_place, *text, str("convert --", option)) : std::nullopt;
}

void write(const std::string& path, NamedTensors tensors, const std::map<std::string, std::string>& metadata) {
  if (path.ends_with(".npz")) return write_file(path, encode_npz(tensors));
  std::vector<NamedTensor> list;
  for (auto& [name, value] : tensors) list.push_back({name, std::move(value)});
  write_safetensors(path, list, metadata);
}

Report run(const Args& args) {
  const std::string &from = args.operands()[0], &to = args.operands()[1];
  if (!to.ends_with(".npz") && !to.ends_with(".safetensors"))
    throw WrongUse(str("'", to, "' ends neither with .npz nor with .safetensors, so its format is not known."));
  const TensorFile file = open_tensor_file(from);
  std::error_code failure;  // one that does not exist is no other's
  if (std::filesystem::equivalent(from, to, failure))
    throw WrongUse(str("'", from, "' and '", to, "' are one file, which would lose what is left out. Name another."));
  const auto keep = pattern_of(args, "keep"), drop = pattern_of(args, "drop");
  NamedTensors tensors;
  std::vector<std::string> left_out;
  for (const TensorEntry& e : file.entries) {
    const bool is_wanted =
        !is_reserved(e.name) && (!keep || keep->is_found_in(e.name)) && (!drop || !drop->is_found_in(e.name));
    if (is_wanted) tensors.emplace_back(e.name, file.read(e.name));
    else left_out.push_back(e.name);
  }
  if (tensors.empty())
    throw InvalidArgument(str("nothing of the ", file.entries.size(), " tensors of '", from, "' is left."));
  const size_t count = tensors.size();
  write(to, std::move(tensors), file.metadata.contains("martello.graph") ? file.metadata : decltype(file.metadata)());
  return {
      .text = str(to, ": ", count, " tensors", left_out.empty() ? "" : str(", ", left_out.size(), " left out"), "\n"),
      .json = {{"from", from}, {"to", to}, {"tensors", count}, {"left_out", left_out}}};
}

}  // namespace

Command convert_command() {
  return {.name = "convert",
          .operands = "FROM TO",
          .summary = "Write the tensors of a file in another format, by its ending: .npz or .safetensors.",
          .help =
              "The state of a run, which a checkpoint also holds, is left out: the result has weights to start from,\n"
              "and no run to go on with. NumPy has no bf16; such tensors become f32 in an .npz file. A file is not\n"
              "converted into itself.\n",
          .least_operands = 2,
          .most_operands = 2,
          .options = {{"keep", "REGEX", "only tensors in whose name it is found"},
                      {"drop", "REGEX", "not those in whose name it is found: 'Adam|Momentum' leaves out slots"}},
          .run = run};
}

}  // namespace martello::tools
