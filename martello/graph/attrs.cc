#include <martello/graph/attrs.h>

#include <martello/base/philox.h>
#include <martello/graph/subgraph.h>

#include <bit>

namespace martello {
namespace {

class Hasher final : public FieldVisitor {
 public:
  void field(const char*, bool& v) override { mix(v); }
  void field(const char*, int& v) override { mix(static_cast<uint64_t>(v)); }
  void field(const char*, int64_t& v) override { mix(static_cast<uint64_t>(v)); }
  void field(const char*, double& v) override { mix(std::bit_cast<uint64_t>(v == 0 ? 0.0 : v)); }
  void field(const char*, std::string& v) override { mix(stable_hash(v)); }
  void field(const char*, DType& v) override { mix(static_cast<uint64_t>(v)); }
  void field(const char*, Shape& v) override { mix_all(v.symbolic()); }
  void field(const char*, std::vector<int>& v) override { mix_all(v); }
  void field(const char*, std::vector<int64_t>& v) override { mix_all(v); }
  void field(const char*, std::vector<double>& v) override {
    for (double d : v) mix(std::bit_cast<uint64_t>(d == 0 ? 0.0 : d));
  }
  void field(const char*, HostTensor& v) override {
    mix(static_cast<uint64_t>(v.dtype()));
    mix_all(v.shape().symbolic());
    mix(stable_hash({reinterpret_cast<const char*>(v.raw()), static_cast<size_t>(v.num_bytes())}));
  }
  void field(const char*, Subgraph& v) override { mix(v.is_null() ? 0 : v.graph().size()); }
  void field(const char*, HostFunction& v) override { mix(stable_hash(v.name())); }
  void field_enum(const char*, int& v, const std::vector<std::string>&) override { mix(static_cast<uint64_t>(v)); }

  uint64_t value = 0x9E3779B97F4A7C15ULL;

 private:
  void mix(uint64_t v) {
    value = (value ^ v) * 0xBF58476D1CE4E5B9ULL;
    value ^= value >> 29;
  }
  template <class T>
  void mix_all(const std::vector<T>& list) {
    mix(list.size());
    for (const T& v : list) mix(static_cast<uint64_t>(v));
  }
};

}  // namespace

void Attrs::visit(FieldVisitor& v) const {
  const auto copy = type_->copy(value_.get());
  type_->visit(copy.get(), v);
}

Attrs::Attrs() : Attrs(NoAttrs{}) {}

uint64_t Attrs::hash() const {
  Hasher hasher;
  visit(hasher);
  return hasher.value;
}

}  // namespace martello
