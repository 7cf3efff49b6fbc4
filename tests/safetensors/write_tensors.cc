// write_tensors FILE: writes a tensor of every dtype that NumPy knows too, as .npz when the name ends so, with
// checksums when it begins with "checked". write_tensors --check FILE: reads those that read_tensors.py has written.
#include <martello/base/atomic_file.h>
#include <martello/base/strings.h>
#include <martello/codec/npz.h>
#include <martello/codec/safetensors.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace mt = martello;

namespace {

mt::HostTensor counting(mt::DType dtype) {
  mt::HostTensor t({2, 3}, dtype);
  for (int64_t i = 0; i < 6; ++i) t.set(i, static_cast<double>(dtype == mt::boolean ? i % 2 : i));
  return t;
}

std::vector<mt::NamedTensor> tensors() {
  std::vector<mt::NamedTensor> list;
  for (mt::DType d : {mt::f32, mt::f64, mt::f16, mt::i32, mt::i64, mt::u8, mt::boolean})
    list.push_back({mt::str("größe/", d), counting(d)});
  list.push_back({"scalar", mt::HostTensor(int64_t{-5})});
  list.push_back({"empty", mt::HostTensor({0, 4}, mt::f32)});
  return list;
}

int check_npz(const std::string& path) {
  const auto found = mt::read_npz(path);
  for (const mt::NamedTensor& t : tensors()) {
    const auto same = [&](const auto& f) { return f.first == t.name && f.second.same_bits(t.value); };
    if (std::none_of(found.begin(), found.end(), same))
      return std::fprintf(stderr, "'%s' is another or missing\n", t.name.c_str()), 1;
  }
  return found.size() == tensors().size() ? 0 : 1;
}

void write_npz(const std::string& path) {
  mt::NamedTensors list;
  for (const auto& [name, value] : tensors()) list.emplace_back(name, value);
  mt::AtomicFile file(path);
  file.append(mt::encode_npz(list));
  file.commit();
}

int check(const std::string& path) {
  if (path.ends_with(".npz")) return check_npz(path);
  const mt::SafetensorsFile file(path);
  for (const auto& [name, value] : tensors())
    if (!file.read(name).same_bits(value)) return std::fprintf(stderr, "'%s' is another\n", name.c_str()), 1;
  return file.metadata().at("by") == "numpy" ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::strcmp(argv[1], "--check") == 0) return check(argv[2]);
  if (argc != 2) return 2;
  const std::string path = argv[1];
  if (path.ends_with(".npz")) return write_npz(path), 0;
  const bool checksums = path.find("/checked") != std::string::npos;
  mt::write_safetensors(path, tensors(), {{"by", "martello"}}, {.checksums = checksums});
}
