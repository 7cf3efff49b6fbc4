#pragma once
#include <martello/base/source_line.h>
#include <martello/tensor/dtype.h>
#include <martello/tensor/shape.h>

#include <array>
#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace martello {

class Graph;
class Operand;
struct OpNode;

// An operation in a graph: a small value. Valid while its Graph lives.
class Operation {
 public:
  Operation() = default;
  explicit Operation(OpNode* node) : node_(node) {}
  const std::string& name() const;
  const char* type() const;  // "matmul"
  Graph graph() const;
  bool is_null() const { return node_ == nullptr; }
  OpNode* node() const { return node_; }
  bool operator==(const Operation&) const = default;

 private:
  OpNode* node_ = nullptr;
};

// A symbolic value: (operation, output index). `==` asks for the same node; equal(a, b) builds a comparison.
class Tensor {
 public:
  Tensor() = default;
  Tensor(Operation op, int index) : op_(op), index_(index) {}
  std::string name() const;  // "conv1/W"; outputs after the first: "split:1"
  DType dtype() const;
  const Shape& shape() const;
  int64_t dim(int i) const { return shape()[i]; }
  int rank() const { return shape().rank(); }
  Operation op() const { return op_; }
  OpNode* node() const { return op_.node(); }
  int index() const { return index_; }
  bool is_null() const { return op_.is_null(); }
  bool operator==(const Tensor&) const = default;
  template <class B>
  requires std::same_as<B, bool>
  explicit operator B() const {
    static_assert(sizeof(B) == 0, "a symbolic Tensor has no truth value while the graph is built; use where(c, a, b)");
    return false;
  }
  // Row i of the first axis: shape(x)[0]. A negative number counts from the end; an integer Tensor picks by its value.
  Tensor operator[](Operand i) const;

  friend Tensor operator+(Operand, Operand);
  friend Tensor operator-(Operand, Operand);
  friend Tensor operator*(Operand, Operand);
  friend Tensor operator/(Operand, Operand);
  friend Tensor operator<(Operand, Operand);
  friend Tensor operator>(Operand, Operand);
  friend Tensor operator<=(Operand, Operand);
  friend Tensor operator>=(Operand, Operand);
  friend Tensor operator-(Operand);
  friend Tensor& operator+=(Tensor&, Operand);
  friend Tensor& operator-=(Tensor&, Operand);
  friend Tensor& operator*=(Tensor&, Operand);
  friend Tensor& operator/=(Tensor&, Operand);

 private:
  Operation op_;
  int index_ = 0;
};

// A variable reads as the Tensor of its value at the start of a run. A custom getter may wrap that value
// (stop_gradient(v)); handle() is always the variable itself.
class Variable : public Tensor {
 public:
  Variable() = default;
  explicit Variable(Tensor handle) : Tensor(handle), handle_(handle) {}
  Variable(Tensor handle, Tensor value) : Tensor(value), handle_(handle) {}
  Tensor handle() const { return handle_; }
  bool operator==(const Variable&) const = default;

 private:
  Tensor handle_;
};

// How every op takes an input: a Tensor or a number, and the line of the user's expression. bool is left out on
// purpose.
class Operand {
 public:
  Operand(Tensor t, SourceLine line = SourceLine::current()) : tensor_(t), line_(line) {}
  template <class N>
  requires(std::floating_point<N> || (std::integral<N> && !std::same_as<N, bool>))
      Operand(N n, SourceLine line = SourceLine::current())
      : number_(static_cast<double>(n)), is_number_(true), is_integral_(std::integral<N>), line_(line) {}
  bool is_number() const { return is_number_; }
  Tensor tensor() const { return tensor_; }
  double number() const { return number_; }
  bool is_integral() const { return is_integral_; }
  SourceLine line() const { return line_; }

 private:
  Tensor tensor_;
  double number_ = 0;
  bool is_number_ = false;
  bool is_integral_ = false;
  SourceLine line_;
};

// A node's name. No default constructor, so `{}` always means "default attributes".
class Name {
 public:
  Name(const char* s, SourceLine line = SourceLine::current()) : text_(s), line_(line) {}
  Name(const std::string& s, SourceLine line = SourceLine::current()) : text_(s), line_(line) {}
  Name(std::string_view s, SourceLine line = SourceLine::current()) : text_(s), line_(line) {}
  std::string_view text() const { return text_; }
  SourceLine line() const { return line_; }

 private:
  std::string_view text_;
  SourceLine line_;
};

class TensorList {
 public:
  TensorList() = default;
  TensorList(Tensor t);
  TensorList(std::initializer_list<Tensor> l);
  TensorList(std::vector<Tensor> v) : tensors_(std::move(v)) {}
  TensorList(const std::vector<Variable>& v);

  Tensor operator[](size_t i) const;  // checked
  Tensor operator[](int i) const { return (*this)[static_cast<size_t>(i)]; }
  Tensor operator[](const Name& name) const;  // by node name; near misses in the message
  template <size_t N>
  std::array<Tensor, N> unpack(SourceLine line = SourceLine::current()) const {
    check_count(N, line);
    std::array<Tensor, N> a;
    for (size_t i = 0; i < N; ++i) a[i] = tensors_[i];
    return a;
  }
  size_t size() const { return tensors_.size(); }
  bool empty() const { return tensors_.empty(); }
  auto begin() const { return tensors_.begin(); }
  auto end() const { return tensors_.end(); }
  void push_back(Tensor t);
  const std::vector<Tensor>& vector() const { return tensors_; }

 private:
  void check_count(size_t n, SourceLine line) const;
  std::vector<Tensor> tensors_;
};

}  // namespace martello
