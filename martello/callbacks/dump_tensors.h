#pragma once
#include <martello/callbacks/process_tensors.h>

namespace martello {

// Writes the values of tensors in every hooked run to `DumpTensor-<global_step>.npz` in the logger's directory, under
// the names that were given; numpy.load reads it.
class DumpTensors : public ProcessTensors {
 public:
  explicit DumpTensors(std::vector<std::string> names, SourceLine line = SourceLine::current());
  void setup_graph() override;
  std::string name() const override { return "DumpTensors"; }

 protected:
  void process(const HostTensors& values) override;

 private:
  std::string dir_;
};

struct DumpImageOptions {
  std::string prefix = {};                                      // of the files; default: the tensor's name
  std::function<HostTensors(const HostTensor&)> map_func = {};  // makes images of the value
  double scale = 255;  // of values in the files, which are clipped to 0 ... 255
};
// On every trigger evaluates a tensor by itself and writes `<prefix>-ep<epoch>.png` in the logger's directory; several
// images, [N, H, W, C] or what the function gave, get -1, -2 ... from the second on. Monitors get the values unscaled.
// A tensor that depends on the training input takes data away from training.
class DumpTensorAsImage : public Callback {
 public:
  explicit DumpTensorAsImage(std::string tensor, DumpImageOptions options = {},
                             SourceLine line = SourceLine::current());
  void setup_graph() override;
  void trigger() override;
  std::string name() const override { return "DumpTensorAsImage"; }
  std::string description() const override { return str(name(), "(", tensor_name_, ")"); }

 private:
  void write(const HostTensor& image, size_t number) const;

  std::string tensor_name_, dir_;
  DumpImageOptions options_;
  SourceLine line_;
  Tensor tensor_;
};

}  // namespace martello
