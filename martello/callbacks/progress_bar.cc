#include <martello/callbacks/progress_bar.h>

#include <martello/base/error.h>
#include <martello/base/internal/clock.h>
#include <martello/base/log.h>
#include <martello/base/state.h>
#include <martello/callbacks/internal/progress_text.h>

#include <unistd.h>

#include <cstdio>

namespace martello {

struct ProgressBar::Impl {
  std::vector<std::string> names;
  SourceLine line;
  bool is_terminal;
  double refresh_seconds;
  std::vector<Tensor> tensors = {};
  internal::Progress shown = {};  // its scalars are kept up to date
  bool is_open = false, is_fetched = false;
  int64_t fetched_step = -1;       // of this epoch
  double start = 0, next = 0;      // seconds
  double last = 0, last_done = 0;  // when it was shown, and with how many steps

  // Half of it from the last interval, as the eye wants it.
  void update_rate(double now) {
    const double steps = static_cast<double>(shown.done) - last_done, time = now - last;
    if (steps <= 0 || time <= 0) return;
    const double rate = steps / time;
    shown.steps_per_second = shown.steps_per_second > 0 ? 0.5 * rate + 0.5 * shown.steps_per_second : rate;
    last = now;
    last_done = static_cast<double>(shown.done);
  }
};

ProgressBar::ProgressBar(std::vector<std::string> names, ProgressBarOptions options, SourceLine line) {
  MARTELLO_CHECK(options.refresh_seconds >= 0, "[ProgressBar] .refresh_seconds is ", options.refresh_seconds,
                 "; it cannot be below 0.");
  const bool is_terminal = options.is_terminal.value_or(isatty(STDERR_FILENO) == 1);
  const double seconds = options.refresh_seconds > 0 ? options.refresh_seconds : internal::refresh_seconds(is_terminal);
  impl_ = Owned(new Impl{std::move(names), line, is_terminal, seconds});
  set_chief_only(false);
}
ProgressBar::ProgressBar(ProgressBar&&) noexcept = default;
ProgressBar::~ProgressBar() = default;

void ProgressBar::setup_graph() {
  for (const std::string& n : impl_->names) {
    const Tensor t = context().get_tensor(n, impl_->line);
    MARTELLO_CHECK(t.rank() == 0, "[ProgressBar] '", n, "' is ", t.shape(), "; only scalars can be shown.");
    impl_->tensors.push_back(t);
    impl_->shown.scalars.emplace_back(n.substr(n.rfind('/') + 1), 0);
  }
}

void ProgressBar::state(State& s) {
  bool is_open = impl_->is_open;
  int64_t done = impl_->shown.done;
  s("is_open", is_open);
  s("done", done);
  if (!s.restoring()) return;
  before_epoch();
  impl_->is_open = is_open;
  impl_->shown.done = done;
  impl_->last_done = static_cast<double>(done);
}

void ProgressBar::before_epoch() {
  Impl& m = *impl_;
  m.is_open = context().loop().steps_per_epoch > 0;
  m.fetched_step = -1;
  m.shown.done = 0;
  m.shown.total = context().loop().steps_per_epoch;
  m.shown.steps_per_second = 0;
  m.start = m.last = internal::now_seconds();
  m.last_done = 0;
  m.next = m.start + m.refresh_seconds;
}

// Once per step, whatever number of hooked runs it makes.
void ProgressBar::before_run(RunContext& run) {
  impl_->is_fetched = impl_->is_open && local_step() != impl_->fetched_step;
  if (!impl_->is_fetched) return;
  impl_->fetched_step = local_step();
  for (const Tensor& t : impl_->tensors) run.fetch(t, SourceLine());
}

void ProgressBar::after_run(RunContext& run) {
  if (!impl_->is_fetched) return;
  for (size_t i = 0; i < impl_->tensors.size(); ++i)
    impl_->shown.scalars[i].second = run.value(static_cast<int>(i)).at(0);
}

void ProgressBar::trigger_step() {
  Impl& m = *impl_;
  if (!m.is_open) return;
  m.shown.done = local_step() + 1;
  if (const double now = internal::now_seconds(); now >= m.next) show(m.shown.done, now);
}

void ProgressBar::show(int64_t steps, double now) {
  Impl& m = *impl_;
  m.next = now + m.refresh_seconds;
  m.shown.done = steps;
  m.shown.elapsed_seconds = now - m.start;
  m.update_rate(now);
  if (!m.is_terminal) return logger::info("[ProgressBar] epoch ", epoch_num(), ": ", internal::progress_line(m.shown));
  // Erases what is left of a longer line.
  const std::string text = str("\r", internal::progress_bar(m.shown), "\x1b[K");
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

// The last word is the mean speed of the epoch.
void ProgressBar::close() {
  Impl& m = *impl_;
  if (!m.is_open) return;
  m.is_open = false;
  const double now = internal::now_seconds();
  if (now > m.start) m.shown.steps_per_second = static_cast<double>(m.shown.done) / (now - m.start);
  m.last = now;
  m.last_done = static_cast<double>(m.shown.done);
  show(m.shown.done, now);
  if (m.is_terminal) std::fputc('\n', stderr);
}

void ProgressBar::after_epoch() { close(); }
void ProgressBar::after_train() { close(); }

}  // namespace martello
