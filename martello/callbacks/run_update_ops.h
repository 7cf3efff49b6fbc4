#pragma once
#include <martello/graph/collections.h>
#include <martello/loop/callback.h>

namespace martello {

// Runs the operations of a collection with every hooked run: what batch_norm does to its averages.
class RunUpdateOps : public Callback {
 public:
  explicit RunUpdateOps(CollectionKey<Operation> collection = kUpdateOps) : collection_(collection) {
    set_chief_only(false);
  }
  std::string name() const override { return "RunUpdateOps"; }
  std::string description() const override { return str(name(), "(", collection_.name, ")"); }
  void setup_graph() override;
  void before_run(RunContext& run) override {
    if (!op_.is_null()) run.fetch(op_, SourceLine());
  }

 private:
  CollectionKey<Operation> collection_;
  Operation op_;  // null: the collection is empty
};

}  // namespace martello
