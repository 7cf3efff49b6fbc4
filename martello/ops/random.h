#pragma once
#include <martello/graph/op_def.h>
#include <martello/ops/extents.h>

// Random numbers as a function of (key, run, sample, element), where a sample is an index on axis 0: neither threads
// nor the way a batch is cut change them. Each op has a key of its own, from the graph's seed and the op's name, and a
// counter that advances with every run. `shape` and `key` of the attributes are set by the functions.
namespace martello {

struct RandomUniformAttrs {
  DType dtype = f32;
  double low = 0;
  double high = 1;
  Shape shape = {};
  int64_t key = 0;
  bool operator==(const RandomUniformAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("dtype", self.dtype);
    f("low", self.low);
    f("high", self.high);
    f("shape", self.shape);
    f("key", self.key);
  }
};
// Even in [low, high).
Tensor random_uniform(Extents shape, RandomUniformAttrs attrs = {}, Name name = "random_uniform");

struct RandomNormalAttrs {
  DType dtype = f32;
  double mean = 0;
  double stddev = 1;
  Shape shape = {};
  int64_t key = 0;
  bool operator==(const RandomNormalAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("dtype", self.dtype);
    f("mean", self.mean);
    f("stddev", self.stddev);
    f("shape", self.shape);
    f("key", self.key);
  }
};
Tensor random_normal(Extents shape, RandomNormalAttrs attrs = {}, Name name = "random_normal");
// Normal numbers within two `stddev` of `mean`.
Tensor random_truncated_normal(Extents shape, RandomNormalAttrs attrs = {}, Name name = "random_truncated_normal");

struct RandomBernoulliAttrs {
  double p = 0.5;
  Shape shape = {};
  int64_t key = 0;
  bool operator==(const RandomBernoulliAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("p", self.p);
    f("shape", self.shape);
    f("key", self.key);
  }
};
// bool, true with probability p.
Tensor random_bernoulli(Extents shape, RandomBernoulliAttrs attrs = {}, Name name = "random_bernoulli");

struct RandomIntegersAttrs {
  int64_t low = 0;
  int64_t high = 2;
  DType dtype = i32;
  Shape shape = {};
  int64_t key = 0;
  bool operator==(const RandomIntegersAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("low", self.low);
    f("high", self.high);
    f("dtype", self.dtype);
    f("shape", self.shape);
    f("key", self.key);
  }
};
// i32 or i64, even in [low, high).
Tensor random_integers(Extents shape, RandomIntegersAttrs attrs, Name name = "random_integers");

struct RandomPermutationAttrs {
  Shape shape = {};
  int64_t key = 0;
  bool operator==(const RandomPermutationAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("shape", self.shape);
    f("key", self.key);
  }
};
// 0 ... n - 1 (i64) in an order of which all are equally likely; n is a size or a scalar Tensor.
Tensor random_permutation(Extents n, Name name = "random_permutation");
// x with its rows in such an order.
Tensor random_shuffle(Operand x, Name name = "random_shuffle");

struct RandomCategoricalAttrs {
  int64_t samples = 1;
  int64_t key = 0;
  bool operator==(const RandomCategoricalAttrs&) const = default;
  static void fields(auto& self, auto&& f) {
    f("samples", self.samples);
    f("key", self.key);
  }
};
// [N, C] -> i64 [N, samples]: class c of row i with probability softmax(logits[i])[c].
Tensor random_categorical(Operand logits, RandomCategoricalAttrs attrs = {}, Name name = "random_categorical");

extern const OpDef op_random_uniform, op_random_normal, op_random_truncated_normal, op_random_bernoulli,
    op_random_integers, op_random_permutation, op_random_categorical;

// The key of a random op: from the seed and a name without tower prefix, so that towers draw from one stream.
int64_t random_key(uint64_t seed, std::string_view name);

}  // namespace martello
