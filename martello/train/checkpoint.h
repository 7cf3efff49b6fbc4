#pragma once
#include <martello/loop/commit_point.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// A checkpoint is one safetensors file: GLOBAL variables under their names, everything else that a run needs to go on
// in tensors with reserved names, and what people ask for in the metadata. docs/resume.md
namespace martello {

// What a checkpoint says of itself.
struct CheckpointInfo {
  std::string path = {};
  int64_t global_step = 0;
  LoopPosition position = {};      // its next_callback is not set
  std::string next_callback = {};  // the one whose turn of the phase comes next; empty: all have had theirs
  std::string end = {};            // empty while the run goes on; else "finished", "stopped: why", "crash: why"
  std::string run = {};            // the same for all checkpoints of a run, resumed ones too
  double saved_at = 0;             // seconds since 1970; later than any other of the run, whatever the clock says
  std::vector<BestTag> best = {};
  // Of a position between two epochs, which has the file name of the end of the first one: the epoch whose end that
  // was.
  std::optional<int64_t> replaced_end = {};

  bool is_finished() const { return end.starts_with("finished"); }
  bool is_stopped() const { return end.starts_with("stopped"); }
};
// From the header alone. NotFound, FileError, or InvalidArgument with the reason for a file that is none or is damaged.
CheckpointInfo read_checkpoint_info(const std::string& path);
// Reads all of the file and compares checksums.
void verify_checkpoint(const std::string& path);

struct CheckpointFile {
  std::string path;
  std::optional<CheckpointInfo> info;  // none: it cannot be read
  std::string why = {};                // it cannot
  double time = 0;                     // seconds since 1970
};
// The files model-*.safetensors of a directory, the newest first. FileError when the directory cannot be read.
std::vector<CheckpointFile> list_checkpoints(const std::string& dir);
// Whether AutoResumeTrainConfig would find a run to go on with: the newest checkpoint is of one that has not ended, or
// there is a log.log and no checkpoint, of one that begins anew. For programs that decide what becomes of an old
// directory. False when there is no directory.
bool has_unfinished_run(const std::string& dir);

}  // namespace martello
