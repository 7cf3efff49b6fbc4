#include <martello/callbacks/run_op.h>

#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/graph/core_ops.h>
#include <martello/ops/check_numerics.h>
#include <martello/ops/variable.h>

namespace martello {

RunOp::RunOp(std::function<Operation()> make_op, RunOpOptions options)
    : make_op_(std::move(make_op)), options_(options) {
  MARTELLO_CHECK(make_op_, "[RunOp] the function that makes its operation is empty.");
  MARTELLO_CHECK(options.before || options.as_trigger || options.each_step,
                 "[RunOp] never applies: .before, .as_trigger and .each_step are all off.");
  set_chief_only(false);
}

RunOp::RunOp(Operation op, RunOpOptions options) : RunOp([op] { return op; }, options) {
  MARTELLO_CHECK(!op.is_null(), "[RunOp] was given a null operation.");
}

RunOp::RunOp(std::string operation, RunOpOptions options, SourceLine line)
    : RunOp([] { return Operation(); }, options) {
  operation_ = std::move(operation);
  line_ = line;
}

std::string RunOp::description() const {
  return str(name(), "(", op_.is_null() ? operation_ : op_.name(), ", before=", options_.before,
             ", as_trigger=", options_.as_trigger, ", each_step=", options_.each_step, ")");
}

void RunOp::setup_graph() {
  op_ = operation_.empty() ? make_op_() : context().graph().get_operation(operation_, line_);
  MARTELLO_CHECK(!op_.is_null(), "[", name(), "] its function returned a null operation.");
  MARTELLO_CHECK(op_.graph() == context().graph(), "[", name(), "] '", op_.name(),
                 "' belongs to another graph than the trainer's.");
}

void RunOp::run() {
  if (options_.verbose) logger::info("[", name(), "] runs '", op_.name(), "'.");
  sess().run(op_);
}

void RunOp::before_train() {
  if (options_.before) run();
}

void RunOp::before_run(RunContext& run) {
  if (options_.each_step) run.fetch(op_, SourceLine());
}

void RunOp::trigger() {
  if (options_.as_trigger) run();
}

namespace {

Operation make_check() {
  std::vector<Operation> checks;
  for (const Variable& v : trainable_variables())
    checks.push_back(check_numerics(v.handle(), str("CheckNumerics['", v.handle().name(), "']")).op());
  return group(checks, "check_numerics");
}

}  // namespace

CheckNumerics::CheckNumerics(CheckNumericsOptions options)
    : RunOp(make_check, {.before = true, .as_trigger = options.as_trigger, .each_step = options.each_step}) {
  set_chief_only(true);
}

SessionRunTimeout::SessionRunTimeout(double milliseconds) : seconds_(milliseconds / 1000) {
  MARTELLO_CHECK(milliseconds > 0, "[SessionRunTimeout] the time is ", milliseconds,
                 " ms, but it must be above 0; leave the callback away for none.");
}

}  // namespace martello
