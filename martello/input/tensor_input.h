#pragma once
#include <martello/input/input_source.h>

#include <functional>

namespace martello {

// Tensors that the graph computes in every run: a function that is called once per tower, in its context.
//   TensorInput([] { return TensorList{random_uniform({64, 10}), constant(labels)}; }, 100)
class TensorInput : public InputSource {
 public:
  explicit TensorInput(std::function<TensorList()> get_tensors, std::optional<int64_t> size = {});

  void setup(const std::vector<TensorSpec>& signature) override;
  TensorList get_input_tensors() override;
  std::optional<int64_t> size() const override { return size_; }

 private:
  std::function<TensorList()> get_tensors_;
  std::optional<int64_t> size_;
  std::vector<TensorSpec> signature_;
};

// Zeros, always the same and ready at once, to measure how fast training is without its data. One shape per input;
// without any, those of the signature, which must then be known.
class DummyConstantInput : public InputSource {
 public:
  explicit DummyConstantInput(std::vector<Shape> shapes = {});

  void setup(const std::vector<TensorSpec>& signature) override;
  TensorList get_input_tensors() override;
  CallbackList get_callbacks() override;
  bool stage(int64_t) override { return true; }  // they are

 private:
  class Feeder;
  std::vector<Shape> shapes_;
  std::shared_ptr<Feeder> feeder_;
};

}  // namespace martello
