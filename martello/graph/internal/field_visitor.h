#pragma once
#include <martello/graph/attrs.h>
#include <martello/graph/subgraph.h>

namespace martello::internal {

// Calls f(name, value) for a field of any type and f(name, number, names) for an enum: one template instead of an
// override per type.
template <class F>
class EachField final : public FieldVisitor {
 public:
  explicit EachField(F& f) : f_(f) {}
  void field(const char* name, bool& v) override { f_(name, v); }
  void field(const char* name, int& v) override { f_(name, v); }
  void field(const char* name, int64_t& v) override { f_(name, v); }
  void field(const char* name, double& v) override { f_(name, v); }
  void field(const char* name, std::string& v) override { f_(name, v); }
  void field(const char* name, DType& v) override { f_(name, v); }
  void field(const char* name, Shape& v) override { f_(name, v); }
  void field(const char* name, std::vector<int>& v) override { f_(name, v); }
  void field(const char* name, std::vector<int64_t>& v) override { f_(name, v); }
  void field(const char* name, std::vector<double>& v) override { f_(name, v); }
  void field(const char* name, HostTensor& v) override { f_(name, v); }
  void field(const char* name, Subgraph& v) override { f_(name, v); }
  void field(const char* name, HostFunction& v) override { f_(name, v); }
  void field_enum(const char* name, int& v, const std::vector<std::string>& names) override { f_(name, v, names); }

 private:
  F& f_;
};

// Calls f(name, field) for the fields of type T only.
template <class T, class F>
void for_each_field(const Attrs& attrs, F&& f) {
  auto pick = [&](const char* name, auto& v, const auto&...) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(v)>, T>) f(name, v);
  };
  EachField visitor(pick);
  attrs.visit(visitor);
}

}  // namespace martello::internal
