#pragma once
#include <martello/base/error.h>
#include <martello/tensor/host_tensor.h>

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace martello {

class Subgraph;
class HostFunction;

// Walks the named fields of an attributes struct: printing, parsing and hashing are visitors.
class FieldVisitor {
 public:
  virtual ~FieldVisitor() = default;
  virtual void field(const char* name, bool& v) = 0;
  virtual void field(const char* name, int& v) = 0;
  virtual void field(const char* name, int64_t& v) = 0;
  virtual void field(const char* name, double& v) = 0;
  virtual void field(const char* name, std::string& v) = 0;
  virtual void field(const char* name, DType& v) = 0;
  virtual void field(const char* name, Shape& v) = 0;
  virtual void field(const char* name, std::vector<int>& v) = 0;
  virtual void field(const char* name, std::vector<int64_t>& v) = 0;
  virtual void field(const char* name, std::vector<double>& v) = 0;
  virtual void field(const char* name, HostTensor& v) = 0;
  virtual void field(const char* name, Subgraph& v) = 0;
  virtual void field(const char* name, HostFunction& v) = 0;
  // An enum, as its number and the names of all its values.
  virtual void field_enum(const char* name, int& v, const std::vector<std::string>& names) = 0;
};

namespace internal {
// Adapts FieldVisitor to the `f("axis", self.axis)` calls of an attributes struct. An enum needs a function
// enum_names(E) that gives the names of its values in order.
struct FieldCall {
  FieldVisitor& visitor;
  template <class T>
  void operator()(const char* name, T& v) const {
    if constexpr (std::is_enum_v<T> && !std::is_same_v<T, DType>) {
      int number = static_cast<int>(v);
      visitor.field_enum(name, number, enum_names(v));
      v = static_cast<T>(number);
    } else if constexpr (requires { v.values(); }) {
      visitor.field(name, v.values());  // Axes and other thin list types
    } else {
      visitor.field(name, v);
    }
  }
};
}  // namespace internal

// What generic code must know of an attributes struct. One constant per struct: its address is its identity.
struct AttrsType {
  std::shared_ptr<void> (*create)();
  std::shared_ptr<void> (*copy)(const void*);
  bool (*equal)(const void*, const void*);
  void (*visit)(void*, FieldVisitor&);
};

template <class A>
inline constexpr AttrsType attrs_type = {
    [] { return std::static_pointer_cast<void>(std::make_shared<A>()); },
    [](const void* a) { return std::static_pointer_cast<void>(std::make_shared<A>(*static_cast<const A*>(a))); },
    [](const void* a, const void* b) { return *static_cast<const A*>(a) == *static_cast<const A*>(b); },
    [](void* a, FieldVisitor& v) { A::fields(*static_cast<A*>(a), internal::FieldCall{v}); }};

struct NoAttrs {
  bool operator==(const NoAttrs&) const = default;
  static void fields(auto&, auto&&) {}
};

// The attributes of one node: any struct with a defaulted operator== and a static fields(self, f). Immutable, shared by
// copies.
class Attrs {
 public:
  Attrs();  // NoAttrs
  template <class A>
  requires(!std::is_same_v<std::remove_cvref_t<A>, Attrs>) explicit Attrs(A a)
      : value_(std::make_shared<A>(std::move(a))), type_(&attrs_type<A>) {}
  Attrs(std::shared_ptr<void> value, const AttrsType* type) : value_(std::move(value)), type_(type) {}

  template <class A>
  const A& get() const {
    MARTELLO_ASSERT(type_ == &attrs_type<A>, "attributes read as another type than they were made with");
    return *static_cast<const A*>(value_.get());
  }
  template <class A>
  bool is() const {
    return type_ == &attrs_type<A>;
  }
  const AttrsType* type() const { return type_; }
  const void* raw() const { return value_.get(); }
  bool operator==(const Attrs& other) const {
    return type_ == other.type_ && (value_ == other.value_ || type_->equal(value_.get(), other.value_.get()));
  }
  uint64_t hash() const;
  void visit(FieldVisitor& v) const;  // the visitor sees a copy

 private:
  std::shared_ptr<void> value_;
  const AttrsType* type_;
};

}  // namespace martello
