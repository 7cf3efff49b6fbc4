#include <martello/base/error.h>
#include <martello/data/sources.h>

#include <cmath>

namespace martello::data {
namespace {

Shape sample_shape(const TensorSpec& spec) {
  const bool has_batch = spec.shape.rank() > 0 && spec.shape[0] == kUnknown;
  Shape shape = has_batch ? spec.shape.slice(1, spec.shape.rank()) : spec.shape;
  MARTELLO_CHECK(shape.is_known(), "[fake '", spec.name, "'] ", spec.dtype, spec.shape,
                 " has an unknown dimension besides the first. Give a spec with its size.");
  return shape;
}

class FakeFlow final : public IndexedFlow {
 public:
  FakeFlow(std::vector<TensorSpec> specs, int64_t count, FakeOptions options)
      : specs_(std::move(specs)), count_(count), options_(options) {
    for (TensorSpec& spec : specs_) spec.shape = sample_shape(spec);
    Rng rng(0);
    if (!options_.random) constant_ = make(rng);
  }
  int64_t count() const override { return count_; }
  Datapoint get(int64_t, Rng& rng) const override { return options_.random ? make(rng) : constant_; }
  std::string description() const override {
    std::vector<std::string> parts;
    for (const TensorSpec& spec : specs_) parts.push_back(spec.str());
    return str("fake(", join(parts), parts.empty() ? "" : ", ", count_, ", random=", options_.random,
               ", low=", options_.low, ", high=", options_.high, ")");
  }

 private:
  Datapoint make(Rng& rng) const {
    HostTensors components;
    for (const TensorSpec& spec : specs_) components.push_back(filled(HostTensor(spec.shape, spec.dtype), rng));
    return Datapoint::of(std::move(components));
  }

  HostTensor filled(HostTensor tensor, Rng& rng) const {
    const double low = options_.low, range = options_.high - low;
    visit_dtype(tensor.dtype(), [&]<class T>(T) {
      for (T& element : tensor.mutable_data<T>()) {
        const double value = rng.uniform() * range + low;
        if constexpr (std::is_same_v<T, bool>) element = value >= 0.5;
        else if constexpr (std::is_integral_v<T> || std::is_same_v<T, double>) element = static_cast<T>(value);
        else element = static_cast<T>(static_cast<float>(value));
      }
    });
    return tensor;
  }

  std::vector<TensorSpec> specs_;
  int64_t count_;
  FakeOptions options_;
  Datapoint constant_;
};

}  // namespace

DataFlowRef fake(std::vector<TensorSpec> specs, int64_t size, FakeOptions options) {
  MARTELLO_CHECK(size >= 0, "[fake] has ", size, " datapoints; the size must be 0 or more.");
  MARTELLO_CHECK(std::isfinite(options.low) && std::isfinite(options.high) && options.low <= options.high,
                 "[fake] values from ", options.low, " to ", options.high,
                 ": both must be finite, the first not greater.");
  for (const TensorSpec& spec : specs)
    MARTELLO_CHECK(!is_integer(spec.dtype) || (std::abs(options.low) < 0x1p31 && std::abs(options.high) < 0x1p31 &&
                                               (spec.dtype != u8 || (options.low >= 0 && options.high <= 256))),
                   "[fake '", spec.name, "'] values from ", options.low, " to ", options.high, " do not fit into ",
                   spec.dtype, ".");
  return FakeFlow(std::move(specs), size, options);
}

}  // namespace martello::data
