#pragma once
#include <martello/loop/callback.h>

#include <cstdint>
#include <string>

namespace martello {

struct ModelSaverOptions {
  int64_t max_to_keep = 10;       // newest files; older ones of this run are deleted once a new one is there. 0: all
  std::string dir = {};           // made if missing; default: the logger's
  int64_t keep_every_epochs = 0;  // stays besides them: what was saved at the end of every so manieth epoch
  double keep_every_minutes = 0;  // and one file for every such time
};

// Saves checkpoints, `dir`/model-<global_step>.safetensors: all variables under the names they have in the graph, and
// what a run needs to go on as if it had not been interrupted (docs/resume.md). It requests; the trainer commits when
// every callback and monitor has had its turn, so that its place in the list does not matter. Files are written while
// training goes on. The end of a run is saved also when none was due there.
class ModelSaver : public Callback {
 public:
  explicit ModelSaver(ModelSaverOptions options = {}, SourceLine line = SourceLine::current());
  void setup_graph() override;
  void trigger() override;
  std::string name() const override { return "ModelSaver"; }
  std::string description() const override { return ""; }

 private:
  ModelSaverOptions options_;
};

}  // namespace martello
