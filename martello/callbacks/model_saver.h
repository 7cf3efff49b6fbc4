#pragma once
#include <martello/loop/callback.h>

#include <cstdint>
#include <string>
#include <vector>

namespace martello {

struct ModelSaverOptions {
  int64_t max_to_keep = 10;  // files; older ones of this saver are deleted once a new one is there. 0: all
  std::string dir = {};      // made if missing; default: the logger's
};

// Saves all GLOBAL variables (weights, optimizer state, batch norm's averages, global_step) as
// `dir`/model-<global_step>.safetensors, under the names they have in the graph. It requests; the trainer commits when
// every callback and monitor has had its turn, so that its place in the list does not matter.
class ModelSaver : public Callback {
 public:
  explicit ModelSaver(ModelSaverOptions options = {}, SourceLine line = SourceLine::current());
  void setup_graph() override;
  void trigger() override;
  void state(State& s) override;
  std::string name() const override { return "ModelSaver"; }

 private:
  void save();
  void delete_old();

  ModelSaverOptions options_;
  std::vector<std::string> kept_;  // file names in `dir`, oldest first
};

}  // namespace martello
