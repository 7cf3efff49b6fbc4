#include <martello/train/checkpoint_contents.h>

#include <martello/base/error.h>
#include <martello/base/state.h>
#include <martello/base/utf8.h>
#include <martello/train/internal/checkpoint_metadata.h>

#include <cstring>

namespace martello {
namespace {

constexpr std::string_view kLocal = "local/", kState = "state", kFingerprint = "fingerprint",
                           kKernelChoices = "kernel_choices";

HostTensor as_tensor(std::string_view bytes) {
  HostTensor tensor(Shape(static_cast<int64_t>(bytes.size())), u8);
  if (!bytes.empty()) std::memcpy(tensor.mutable_raw(), bytes.data(), bytes.size());
  return tensor;
}

std::string as_text(const HostTensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.raw()), static_cast<size_t>(tensor.num_bytes())};
}

std::string encode_fingerprint(const Fingerprint& items) {
  std::vector<std::string> names, texts;
  for (const FingerprintItem& item : items) {
    names.push_back(item.name);
    texts.push_back(item.text);
  }
  State s;
  s("names", names);
  s("texts", texts);
  return s.bytes();
}

Fingerprint decode_fingerprint(std::string bytes) {
  State s = State::from_bytes(std::move(bytes));
  std::vector<std::string> names, texts;
  s("names", names);
  s("texts", texts);
  MARTELLO_CHECK(names.size() == texts.size(), "has a fingerprint of ", names.size(), " names and ", texts.size(),
                 " texts.");
  Fingerprint items;
  items.reserve(names.size());
  for (size_t i = 0; i < names.size(); ++i) items.push_back({names[i], texts[i]});
  return items;
}

std::string reserved(std::string_view name) { return str(kCheckpointPrefix, name); }

// A file that is a checkpoint and has checksums, which cannot be taken away by one changed bit.
SafetensorsFile open_checkpoint(const std::string& path) {
  SafetensorsFile file(path);
  MARTELLO_CHECK(file.metadata().contains(kCheckpointFormatKey), "[checkpoint '", path,
                 "'] is a safetensors file, but no checkpoint of a run. SmartInit() loads weights from it.");
  MARTELLO_CHECK(file.has_checksums(), "[checkpoint '", path, "'] has lost its checksums. It is damaged.");
  return file;
}

void take_reserved(Checkpoint& c, std::string_view name, HostTensor value) {
  if (name == kState) c.state = as_text(value);
  else if (name == kFingerprint) c.fingerprint = decode_fingerprint(as_text(value));
  else if (name == kKernelChoices) c.kernel_choices = as_text(value);
  else if (name.starts_with(kLocal)) c.local_variables.push_back({std::string(name.substr(kLocal.size())), value});
  else throw InvalidArgument(str("has an unknown part '", name, "'. A newer version has written it."));
}

}  // namespace

void check_variable_name(std::string_view name) {
  MARTELLO_CHECK(!name.starts_with(kCheckpointPrefix) && name != "__metadata__", "[checkpoint] variable '", name,
                 "' begins with ", kCheckpointPrefix, " or is __metadata__, which are reserved. Rename it.");
  MARTELLO_CHECK(is_utf8(name), "[checkpoint] variable ", quoted(name),
                 " has a name that is no UTF-8, as all names of a checkpoint are. Rename it.");
}

void write_checkpoint(const std::string& path, const Checkpoint& c, const std::function<void()>& check) {
  std::vector<NamedTensor> tensors = c.variables;
  for (const NamedTensor& t : c.variables) check_variable_name(t.name);
  for (const NamedTensor& t : c.local_variables) tensors.push_back({reserved(str(kLocal, t.name)), t.value});
  tensors.push_back({reserved(kState), as_tensor(c.state)});
  tensors.push_back({reserved(kFingerprint), as_tensor(encode_fingerprint(c.fingerprint))});
  tensors.push_back({reserved(kKernelChoices), as_tensor(c.kernel_choices)});
  write_safetensors(path, tensors, encode_metadata(c.info), {.checksums = true, .check = check});
}

CheckpointInfo read_checkpoint_info(const std::string& path) {
  return decode_metadata(path, open_checkpoint(path).metadata());
}

void verify_checkpoint(const std::string& path) {
  const SafetensorsFile file = open_checkpoint(path);
  static_cast<void>(decode_metadata(path, file.metadata()));
  file.verify();
}

Checkpoint read_checkpoint(const std::string& path) {
  const SafetensorsFile file = open_checkpoint(path);
  Checkpoint c{.info = decode_metadata(path, file.metadata())};
  for (const auto& entry : file.entries()) {
    HostTensor value = file.read(entry.name);
    try {
      if (!entry.name.starts_with(kCheckpointPrefix)) c.variables.push_back({entry.name, std::move(value)});
      else take_reserved(c, std::string_view(entry.name).substr(kCheckpointPrefix.size()), std::move(value));
    } catch (const InvalidArgument& e) {
      throw InvalidArgument(str("[checkpoint '", path, "'] ", e.what()));
    }
  }
  return c;
}

}  // namespace martello
