#pragma once
#include <martello/base/ref.h>
#include <martello/base/source_line.h>
#include <martello/loop/session_init.h>
#include <martello/tensor/host_tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

// Where variables get their values from instead of their initializers:
//   config.session_init = SmartInit("train_log/convnet/model-4680.safetensors");
// Variables are the GLOBAL ones of the graph, found by their whole names; what only one side has is said in the log.
// Nothing in common is an error.
namespace martello {

// How a value may differ from its variable.
enum class Fit : uint8_t {
  exact,    // not at all
  relaxed,  // as many elements, reshaped; a dtype that converts without losing more than digits. Both with a warning
  skip,     // the same, and what cannot be made to fit is left out with a warning
};

struct RestoreOptions {
  std::string prefix = {};  // "model": the variable model/conv1/W takes what the file calls conv1/W; some must begin so
  std::vector<std::string> ignore = {};  // variables that keep their initial values
};

// A file that ModelSaver wrote, or any other of its format. It must be there already.
class SaverRestore : public SessionInit {
 public:
  explicit SaverRestore(const std::string& path, RestoreOptions options = {}, SourceLine line = SourceLine::current());
  void setup_graph() override;  // finds what does not fit before the session exists
  void run_init(Session& session) override;

 protected:
  SaverRestore(const std::string& path, RestoreOptions options, Fit fit, SourceLine line);

 private:
  std::string path_;
  RestoreOptions options_;
  Fit fit_;
};

// Loads what can be made to fit and leaves the rest out.
class SaverRestoreRelaxed : public SaverRestore {
 public:
  explicit SaverRestoreRelaxed(const std::string& path, RestoreOptions options = {},
                               SourceLine line = SourceLine::current())
      : SaverRestore(path, std::move(options), Fit::skip, line) {}
};

using ValueMap = std::map<std::string, HostTensor>;
struct MismatchOptions {
  bool ignore_mismatch = false;  // leaves out what cannot be made to fit
};

class DictRestore : public SessionInit {
 public:
  explicit DictRestore(ValueMap values, MismatchOptions options = {}) : values_(std::move(values)), options_(options) {}
  void run_init(Session& session) override;

 private:
  ValueMap values_;
  MismatchOptions options_;
};

// One after the other: of two values for a variable the later one counts.
class ChainInit : public SessionInit {
 public:
  explicit ChainInit(std::vector<Ref<SessionInit>> inits, SourceLine line = SourceLine::current());
  void setup_graph() override;
  void run_init(Session& session) override;

 private:
  std::vector<Ref<SessionInit>> inits_;
};

// Whatever a path or a map of values stands for: a checkpoint or another safetensors file, an .npz file, several of
// them one after the other; an empty path for nothing at all. `~/` is the home directory.
class SmartInit : public SessionInit {
 public:
  explicit SmartInit(const std::string& path, MismatchOptions options = {}, SourceLine line = SourceLine::current());
  explicit SmartInit(const std::vector<std::string>& paths, MismatchOptions options = {},
                     SourceLine line = SourceLine::current());
  explicit SmartInit(ValueMap values, MismatchOptions options = {});
  void setup_graph() override;
  void run_init(Session& session) override;

 private:
  Ref<SessionInit> init_;  // null: nothing
};

}  // namespace martello
