#include <martello/callbacks/wrappers.h>

#include <martello/base/error.h>

namespace martello {
namespace {

void check_every(const Every& e, const char* who, bool takes_before_train, SourceLine line) {
  with_line(line, [&] {
    MARTELLO_CHECK(e.steps >= 0 && e.epochs >= 0, "[", who, "] periods are ", e.steps, " steps and ", e.epochs,
                   " epochs, but cannot be below 0.");
    MARTELLO_CHECK(e.steps > 0 || e.epochs > 0 || (takes_before_train && e.before_train), "[", who,
                   "] has no period, so it never applies. Set .steps or .epochs.");
    MARTELLO_CHECK(takes_before_train || !e.before_train, "[", who,
                   "] .before_train has no meaning here: before_train always runs.");
  });
}

bool is_multiple(int64_t n, int64_t period) { return period > 0 && n % period == 0; }

}  // namespace

ProxyCallback::ProxyCallback(Ref<Callback> inner) : inner_(std::move(inner)) {
  MARTELLO_CHECK(inner_, "[callbacks] a wrapper got a null callback.");
  set_chief_only(inner_->chief_only());
}

std::string ProxyCallback::name() const { return str(Callback::name(), "(", inner_->name(), ")"); }

std::string ProxyCallback::describe() const { return str(Callback::name(), "(", inner_->description(), ")"); }

std::string PeriodicTrigger::describe() const {
  return str("PeriodicTrigger(", inner().description(), ", steps=", every_.steps, ", epochs=", every_.epochs,
             ", before_train=", every_.before_train, ")");
}

PeriodicTrigger::PeriodicTrigger(Ref<Callback> callback, Every every, SourceLine line)
    : ProxyCallback(std::move(callback)), every_(every) {
  check_every(every, "PeriodicTrigger", true, line);
}

void PeriodicTrigger::before_train() {
  inner().before_train();
  if (every_.before_train) inner().trigger();
}
void PeriodicTrigger::trigger_step() {
  inner().trigger_step();
  if (is_multiple(context().loop().global_step, every_.steps)) inner().trigger();
}
void PeriodicTrigger::trigger_epoch() {
  if (is_multiple(context().loop().epoch_num, every_.epochs)) inner().trigger();
}

EnableCallbackIf::EnableCallbackIf(Ref<Callback> callback, Predicate predicate, SourceLine line)
    : ProxyCallback(std::move(callback)), predicate_(std::move(predicate)) {
  with_line(line, [&] { MARTELLO_CHECK(predicate_, "[EnableCallbackIf] its predicate is empty."); });
}

void EnableCallbackIf::before_epoch() {
  if (is_enabled()) inner().before_epoch();
}
void EnableCallbackIf::before_run(RunContext& run) {
  is_run_enabled_ = is_enabled();
  if (is_run_enabled_) inner().before_run(run);
}
void EnableCallbackIf::after_run(RunContext& run) {
  if (is_run_enabled_) inner().after_run(run);
}
void EnableCallbackIf::trigger_step() {
  if (is_enabled()) inner().trigger_step();
}
void EnableCallbackIf::after_epoch() {
  if (is_enabled()) inner().after_epoch();
}
void EnableCallbackIf::trigger_epoch() {
  if (is_enabled()) inner().trigger_epoch();
}

PeriodicCallback::PeriodicCallback(Ref<Callback> callback, Every every, SourceLine line)
    : EnableCallbackIf(
          std::move(callback),
          [every](const TrainContext& context) {
            const TrainLoop& loop = context.loop();
            const bool is_end = every.epochs > 0 && loop.is_last_epoch() && loop.is_last_step();
            return is_end || is_multiple(loop.global_step, every.steps) || is_multiple(loop.epoch_num, every.epochs);
          },
          line),
      every_(every) {
  check_every(every, "PeriodicCallback", false, line);
}

std::string PeriodicCallback::describe() const {
  return str("PeriodicCallback(", inner().description(), ", steps=", every_.steps, ", epochs=", every_.epochs, ")");
}

std::string CallbackFactory::description() const {
  return str(name(), "(needs: ", join(hooks_.needs), "; provides: ", join(hooks_.provides), ")");
}

HookToCallback::HookToCallback(Ref<RunHook> hook) : hook_(std::move(hook)) {
  MARTELLO_CHECK(hook_, "[HookToCallback] was given a null hook.");
  set_chief_only(false);
}

Ref<Callback> on_all_ranks(Ref<Callback> callback) {
  MARTELLO_CHECK(callback, "[callbacks] on_all_ranks() got a null callback.");
  callback->set_chief_only(false);
  return callback;
}

}  // namespace martello
