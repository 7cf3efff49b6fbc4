#include <martello/callbacks/model_saver.h>

#include <martello/base/error.h>
#include <martello/callbacks/internal/saver_dir.h>
#include <martello/loop/commit_point.h>

namespace martello {

ModelSaver::ModelSaver(ModelSaverOptions options, SourceLine line) : options_(std::move(options)) {
  with_line(line, [&] {
    MARTELLO_CHECK(options_.max_to_keep >= 0, "[ModelSaver] .max_to_keep is ", options_.max_to_keep,
                   " but cannot be below 0. 0 keeps all.");
    MARTELLO_CHECK(options_.keep_every_epochs >= 0, "[ModelSaver] .keep_every_epochs is ", options_.keep_every_epochs,
                   " but cannot be below 0. 0 keeps none besides the newest.");
    MARTELLO_CHECK(options_.keep_every_minutes >= 0, "[ModelSaver] .keep_every_minutes is ",
                   options_.keep_every_minutes, " but cannot be below 0. 0 keeps none besides the newest.");
  });
}

void ModelSaver::setup_graph() {
  options_.dir = internal::saver_dir(options_.dir, name());
  context().commit_point().add_directory(options_.dir, {.newest = options_.max_to_keep,
                                                        .every_epochs = options_.keep_every_epochs,
                                                        .every_minutes = options_.keep_every_minutes});
}

void ModelSaver::trigger() { context().commit_point().request_checkpoint(options_.dir); }

}  // namespace martello
