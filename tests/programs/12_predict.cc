// A model outside of training: with the weights of a checkpoint, and as a bare function.
#include <martello/martello.h>

#include <filesystem>

namespace mt = martello;

struct Net : mt::ModelDescBase {
  std::vector<mt::TensorSpec> inputs() const override { return {{{mt::kUnknown, 784}, mt::f32, "image"}}; }
  mt::Tensor build_graph(mt::TensorList in) const override {
    return mt::softmax(mt::fully_connected("fc", in[0], {.units = 10}), "prob");
  }
};

// What a training would have left: the bias alone decides for class 3.
static void write_checkpoint(const std::string& path) {
  mt::HostTensor bias({10}, mt::f32);
  bias.set(3, 5);
  mt::save_checkpoint_vars({{"fc/W", mt::HostTensor({784, 10}, mt::f32)}, {"fc/b", bias}}, path);
}

int main() {
  std::filesystem::create_directories("train_log/convnet");
  write_checkpoint("train_log/convnet/model-4680.safetensors");
  mt::OfflinePredictor predict({.model = Net(),
                                .input_names = {"image"},
                                .output_names = {"prob", "fc/output"},
                                .session_init = mt::SmartInit("train_log/convnet/model-4680.safetensors")});
  mt::HostTensor image({1, 784}, mt::f32);
  auto out = predict({image});
  auto first = out[0].data<float>();
  mt::OfflinePredictor lambda({.tower_func = [](mt::Tensor x) { return mt::softmax(x, "prob"); },
                               .input_signature = {{{mt::kUnknown, 10}, mt::f32, "x"}},
                               .output_names = {"prob"}});
  const bool holds = first.size() == 10 && first[3] > 0.9 && out[1].at(3) == 5;
  return holds && lambda({mt::HostTensor({2, 10}, mt::f32)}).size() == 1 ? 0 : 1;
}
