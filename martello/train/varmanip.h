#pragma once
#include <martello/train/restore.h>

#include <string>
#include <vector>

// Values of variables as files, outside of training.
namespace martello {

// Of a safetensors file (a checkpoint: its GLOBAL variables) or an .npz file, by name.
ValueMap load_checkpoint_vars(const std::string& path);
// As .npz when the path ends so, else as safetensors; either way the file is there whole or not at all.
void save_checkpoint_vars(const ValueMap& values, const std::string& path);

// What a model needs for inference: the values of the TRAINABLE and MODEL variables that are GLOBAL.
ValueMap session_params(Session& session);
void dump_session_params(Session& session, const std::string& path);

// Sets variables of a session: of all GLOBAL ones, those that are named. A name that is none is refused.
void update_session(Session& session, const ValueMap& values, MismatchOptions options = {});

// The newest checkpoint of a directory that can be read, or the file itself. NotFound when there is none.
std::string get_checkpoint_path(const std::string& path_or_dir);

}  // namespace martello
