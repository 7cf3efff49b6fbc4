#include <martello/predict/async_predictor.h>

#include <martello/base/error.h>
#include <martello/base/internal/clock.h>
#include <martello/base/log.h>
#include <martello/predict/internal/rows.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <iterator>
#include <mutex>
#include <set>
#include <thread>

namespace martello {

namespace {

// What the callers of neighbouring tasks wait for. Mostly these are one batch, and all are woken at once: a call of the
// system for each of them took as long as half of a small model.
struct Bell {
  std::mutex mutex;  // of the states of its tasks
  std::condition_variable rings;
};

// Whose thread this is. It makes the room and the end that others wait for, so it can wait for neither.
thread_local const void* owner = nullptr;

// Times that the clock can hold.
std::chrono::duration<double> at_most_years(double seconds) {
  constexpr double kMost = 1e9;
  return std::chrono::duration<double>(seconds > 0 ? std::min(seconds, kMost) : 0);
}

}  // namespace

struct PendingPrediction::State {
  explicit State(std::shared_ptr<Bell> of_neighbours) : bell(std::move(of_neighbours)) {}
  const std::shared_ptr<Bell> bell;
  bool is_done = false;
  HostTensors outputs;
  std::exception_ptr error;
};

const HostTensors& PendingPrediction::get() const {
  std::unique_lock lock(state_->bell->mutex);
  state_->bell->rings.wait(lock, [&] { return state_->is_done; });
  if (state_->error) std::rethrow_exception(state_->error);
  return state_->outputs;
}

bool PendingPrediction::is_done() const {
  const std::lock_guard lock(state_->bell->mutex);
  return state_->is_done;
}

bool PendingPrediction::wait(double seconds) const {
  std::unique_lock lock(state_->bell->mutex);
  return state_->bell->rings.wait_for(lock, at_most_years(seconds), [&] { return state_->is_done; });
}

struct MultiThreadAsyncPredictor::Impl {
  using State = PendingPrediction::State;
  struct Task {
    HostTensors inputs;
    std::shared_ptr<State> state;
    DoneFn done;
  };
  using Tasks = std::vector<Task>;

  // What a predictor knows of its last batch.
  struct Last {
    size_t tasks = 0;
    double seconds = 0;  // that it took
  };
  size_t most_waiting() const { return static_cast<size_t>(options.capacity) * predictors.size(); }
  void work(const PredictorBase& predictor);
  Tasks take_batch(Last last);
  void linger(std::unique_lock<std::mutex>& lock, size_t tasks, double seconds);
  std::shared_ptr<Bell> next_bell();
  Tasks end_threads();
  static void run(const PredictorBase& predictor, Tasks& tasks);
  static void finish(Tasks& tasks, std::vector<HostTensors> rows, const std::exception_ptr& error);

  std::vector<Ref<PredictorBase>> predictors;
  AsyncPredictorOptions options;

  std::mutex stopping;  // held until the threads have ended
  std::mutex mutex;     // of what follows
  std::vector<std::thread> threads;
  std::condition_variable has_task, has_wanted, has_room;
  std::deque<Task> waiting;
  std::multiset<size_t> wanted;  // how many tasks the predictors that linger wait for
  std::shared_ptr<Bell> bell;    // of the next task
  int64_t bell_tasks = 0;        // that have it
  bool is_started = false, is_stopped = false;
};

void MultiThreadAsyncPredictor::Impl::work(const PredictorBase& predictor) {
  owner = this;
  Last last;
  for (Tasks tasks = take_batch(last); !tasks.empty(); tasks = take_batch(last)) {
    const double start = internal::now_seconds();
    run(predictor, tasks);
    last = {tasks.size(), internal::now_seconds() - start};
  }
}

// After a batch has left nothing, the next one begins with a new bell: full batches have one of their own.
std::shared_ptr<Bell> MultiThreadAsyncPredictor::Impl::next_bell() {
  if (waiting.empty() || bell_tasks == options.batch_size) {
    bell = std::make_shared<Bell>();
    bell_tasks = 0;
  }
  ++bell_tasks;
  return bell;
}

// Until so many tasks wait, at most so long.
void MultiThreadAsyncPredictor::Impl::linger(std::unique_lock<std::mutex>& lock, size_t tasks, double seconds) {
  const auto place = wanted.insert(tasks);
  has_wanted.wait_for(lock, at_most_years(seconds), [&] { return is_stopped || waiting.size() >= tasks; });
  wanted.erase(place);
}

// The oldest task and those that fit to it; none when there will be no more. Callers that come back with their next
// task each are a batch again if somebody waits until the last of them has been woken.
MultiThreadAsyncPredictor::Impl::Tasks MultiThreadAsyncPredictor::Impl::take_batch(Last last) {
  constexpr double kShareForCallers = 0.1;
  const auto full = static_cast<size_t>(options.batch_size);
  std::unique_lock lock(mutex);
  const size_t callers = std::min({full, most_waiting(), last.tasks + waiting.size()});
  do {
    has_task.wait(lock, [&] { return is_stopped || !waiting.empty(); });
    if (options.linger_seconds > 0) linger(lock, full, options.linger_seconds);
    else if (callers > 1) linger(lock, callers, kShareForCallers * last.seconds);
  } while (!is_stopped && waiting.empty());  // another thread may have taken them meanwhile
  if (is_stopped) return {};
  std::vector<size_t> chosen;
  for (size_t i = 0; i < waiting.size() && static_cast<int64_t>(chosen.size()) < options.batch_size; ++i)
    if (internal::can_stack(waiting[0].inputs, waiting[i].inputs)) chosen.push_back(i);
  if (static_cast<int64_t>(chosen.size()) < options.batch_size) chosen.resize(std::bit_floor(chosen.size()));
  Tasks tasks;
  for (const size_t i : chosen) tasks.push_back(std::move(waiting[i]));
  for (size_t n = chosen.size(); n-- > 0;) waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(chosen[n]));
  lock.unlock();
  has_room.notify_all();
  return tasks;
}

void MultiThreadAsyncPredictor::Impl::run(const PredictorBase& predictor, Tasks& tasks) {
  std::vector<HostTensors> rows;
  try {
    std::vector<const HostTensors*> inputs;
    for (const Task& t : tasks) inputs.push_back(&t.inputs);
    rows = internal::rows_of(predictor(internal::stacked(inputs)), tasks.size());
  } catch (...) {
    if (tasks.size() == 1) return finish(tasks, {}, std::current_exception());
  }
  if (!rows.empty()) return finish(tasks, std::move(rows), nullptr);
  for (Task& t : tasks) {
    Tasks alone;
    alone.push_back(std::move(t));
    run(predictor, alone);
  }
}

// Each with its row, or all with the error.
void MultiThreadAsyncPredictor::Impl::finish(Tasks& tasks, std::vector<HostTensors> rows,
                                             const std::exception_ptr& error) {
  for (size_t first = 0, i = 0; first < tasks.size(); first = i) {
    const std::shared_ptr<Bell> bell = tasks[first].state->bell;
    {
      const std::lock_guard lock(bell->mutex);
      for (; i < tasks.size() && tasks[i].state->bell == bell; ++i) {
        State& state = *tasks[i].state;
        if (!error) state.outputs = std::move(rows[i]);
        state.error = error;
        state.is_done = true;
      }
    }
    bell->rings.notify_all();
  }
  for (Task& task : tasks)
    if (task.done) try {
        task.done(PendingPrediction(task.state));
      } catch (const std::exception& e) {
        logger::error("[predict] what was to be done with a result has failed: ", e.what());
      } catch (...) {
        logger::error("[predict] what was to be done with a result has thrown what is no std::exception.");
      }
}

// Gives what still waits.
MultiThreadAsyncPredictor::Impl::Tasks MultiThreadAsyncPredictor::Impl::end_threads() {
  const std::lock_guard only(stopping);
  Tasks left;
  std::vector<std::thread> ending;
  {
    const std::lock_guard lock(mutex);
    is_stopped = true;
    std::move(waiting.begin(), waiting.end(), std::back_inserter(left));
    waiting.clear();
    ending.swap(threads);
  }
  has_task.notify_all();
  has_wanted.notify_all();
  has_room.notify_all();
  for (std::thread& t : ending) t.join();
  return left;
}

MultiThreadAsyncPredictor::MultiThreadAsyncPredictor(std::vector<Ref<PredictorBase>> predictors,
                                                     AsyncPredictorOptions options, SourceLine line)
    : impl_(make_owned<Impl>()) {
  with_line(line, [&] {
    MARTELLO_CHECK(!predictors.empty(), "[predict] has no predictor to run. Give one for each thread.");
    for (size_t i = 0; i < predictors.size(); ++i)
      MARTELLO_CHECK(predictors[i], "[predict] predictor ", i, " is null: it was never assigned.");
    MARTELLO_CHECK(options.batch_size > 0 && options.capacity > 0 && options.linger_seconds >= 0,
                   "[predict] batch_size ", options.batch_size, ", capacity ", options.capacity, " and linger_seconds ",
                   options.linger_seconds, " must be 1 or more, 1 or more, and not negative.");
  });
  impl_->predictors = std::move(predictors);
  impl_->options = options;
}
MultiThreadAsyncPredictor::MultiThreadAsyncPredictor(MultiThreadAsyncPredictor&&) noexcept = default;
MultiThreadAsyncPredictor::~MultiThreadAsyncPredictor() {
  if (impl_) stop();
}

void MultiThreadAsyncPredictor::start() {
  const std::lock_guard lock(impl_->mutex);
  if (impl_->is_started) throw FailedPrecondition("[predict] its threads were started already.");
  impl_->is_started = true;
  for (const auto& p : impl_->predictors)
    impl_->threads.emplace_back([impl = impl_.get(), predictor = p] { impl->work(*predictor); });
}

PendingPrediction MultiThreadAsyncPredictor::put_task(HostTensors inputs, DoneFn done) {
  std::unique_lock lock(impl_->mutex);
  if (!impl_->is_started) throw FailedPrecondition("[predict] put_task() comes before start().");
  if (owner != impl_.get())
    impl_->has_room.wait(lock, [&] { return impl_->is_stopped || impl_->waiting.size() < impl_->most_waiting(); });
  if (impl_->is_stopped) throw FailedPrecondition("[predict] put_task() comes after stop().");
  auto state = std::make_shared<PendingPrediction::State>(impl_->next_bell());
  impl_->waiting.push_back({std::move(inputs), state, std::move(done)});
  const bool is_wanted = !impl_->wanted.empty() && impl_->waiting.size() >= *impl_->wanted.begin();
  lock.unlock();
  impl_->has_task.notify_one();
  if (is_wanted) impl_->has_wanted.notify_all();
  return PendingPrediction(std::move(state));
}

void MultiThreadAsyncPredictor::stop() {
  if (owner == impl_.get())
    throw FailedPrecondition("[predict] stop() is called by one of the threads that it ends. Leave it to another one.");
  Impl::Tasks left = impl_->end_threads();
  Impl::finish(left, {}, std::make_exception_ptr(FailedPrecondition("[predict] was stopped before this task's turn.")));
}

}  // namespace martello
