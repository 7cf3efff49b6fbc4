#include <martello/base/error.h>
#include <martello/base/state.h>
#include <martello/base/utf8.h>
#include <martello/loop/internal/images.h>
#include <martello/loop/internal/metric_name.h>
#include <martello/loop/monitors.h>
#include <martello/loop/time_account.h>

#include <time.h>

#include <exception>
#include <functional>
#include <unordered_map>

namespace martello {
namespace {

struct Series {
  std::string name;
  ScalarClass kind = ScalarClass::run;
  std::vector<int64_t> steps = {};
  std::vector<double> values = {};

  void put(int64_t step, double value) {
    if (!steps.empty() && steps.back() == step) {
      values.back() = value;
      return;
    }
    steps.push_back(step);
    values.push_back(value);
  }
};

struct HashOfText {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

double seconds_since_1970() {
  timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

std::string_view to_string(ScalarClass c) { return c == ScalarClass::run ? "run" : "volatile"; }

class Monitors::History {
 public:
  // Looks a name up without making a string of it.
  const Series* find(std::string_view name) const {
    const auto found = index_.find(name);
    return found == index_.end() ? nullptr : &list_[found->second];
  }
  Series& get(std::string_view name, ScalarClass kind) {
    if (const Series* found = find(name)) {
      MARTELLO_CHECK(found->kind == kind, "[monitors] scalar '", name, "' came as ", found->kind, " and now comes as ",
                     kind, ". A scalar stays of one class.");
      return const_cast<Series&>(*found);
    }
    internal::check_metric_name("scalar", name);
    return add(std::string(name), kind);
  }
  Series& add(const std::string& name, ScalarClass kind) {
    index_.emplace(name, list_.size());
    return list_.emplace_back(Series{name, kind});
  }
  // Of those that have values.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Series& series : list_)
      if (!series.values.empty()) names.push_back(series.name);
    return names;
  }
  void state(State& s) {
    std::vector<std::string> all;
    for (const Series& series : list_) all.push_back(series.name);
    s("names", all);
    if (s.restoring()) {
      *this = {};
      for (const std::string& name : all) add(name, ScalarClass::run);
    }
    for (Series& series : list_) {
      bool is_volatile = series.kind == ScalarClass::volatile_;
      s(str(series.name, "/volatile"), is_volatile);
      s(str(series.name, "/steps"), series.steps);
      s(str(series.name, "/values"), series.values);
      series.kind = is_volatile ? ScalarClass::volatile_ : ScalarClass::run;
    }
  }

 private:
  std::vector<Series> list_;
  std::unordered_map<std::string, size_t, HashOfText, std::equal_to<>> index_;
};

Monitors::Monitors(std::vector<Ref<Monitor>> monitors)
    : monitors_(std::move(monitors)), history_(make_owned<History>()) {
  set_chief_only(false);
  for (size_t i = 0; i < monitors_.size(); ++i)
    MARTELLO_CHECK(monitors_[i], "[monitors] monitor ", i, " of ", monitors_.size(), " is null.");
}

Monitors::Monitors(Monitors&&) noexcept = default;
Monitors& Monitors::operator=(Monitors&&) noexcept = default;
Monitors::~Monitors() = default;

void Monitors::put_scalar(std::string_view name, double value, ScalarClass c) {
  const TimeAccount::Scope scope(context().time_account(), TimePart::monitors);
  history_->get(name, c).put(global_step(), value);
  for (const auto& m : monitors_)
    c == ScalarClass::run ? m->process_scalar(name, value) : m->process_volatile(name, value);
}

void Monitors::declare(std::string_view name, ScalarClass c) const { history_->get(name, c); }

void Monitors::put_image(std::string_view name, const HostTensor& image) {
  const TimeAccount::Scope scope(context().time_account(), TimePart::monitors);
  internal::check_metric_name("image", name);
  const HostTensor images = internal::as_images(name, image);
  for (const auto& m : monitors_) m->process_image(name, images);
}

void Monitors::put_histogram(std::string_view name, const HostTensor& values) {
  const TimeAccount::Scope scope(context().time_account(), TimePart::monitors);
  internal::check_metric_name("histogram", name);
  for (const auto& m : monitors_) m->process_histogram(name, values);
}

void Monitors::put_text(std::string_view name, std::string_view text) {
  const TimeAccount::Scope scope(context().time_account(), TimePart::monitors);
  internal::check_metric_name("text", name);
  MARTELLO_CHECK(is_utf8(text), "[monitors] text '", name, "' is no UTF-8.");
  for (const auto& m : monitors_) m->process_text(name, text);
}

void Monitors::put_event(Event event) {
  const TimeAccount::Scope scope(context().time_account(), TimePart::monitors);
  event.step = global_step();
  event.wall_time = seconds_since_1970();
  for (const auto& m : monitors_) m->process_event(event);
}

std::optional<double> Monitors::find_latest(std::string_view name) const {
  const Series* found = history_->find(name);
  return found == nullptr || found->values.empty() ? std::nullopt : std::optional(found->values.back());
}

double Monitors::get_latest(std::string_view name) const {
  if (const auto value = find_latest(name)) return *value;
  throw NotFound(str("[monitors] no scalar '", name, "' was put so far.", did_you_mean(name, history_->names())));
}

std::vector<std::pair<int64_t, double>> Monitors::get_history(std::string_view name) const {
  std::vector<std::pair<int64_t, double>> history;
  const Series* found = history_->find(name);
  for (size_t i = 0; found != nullptr && i < found->steps.size(); ++i)
    history.emplace_back(found->steps[i], found->values[i]);
  return history;
}

void Monitors::check_repeatable(std::string_view name, std::string_view who) const {
  const Series* found = history_->find(name);
  if (found == nullptr || found->kind == ScalarClass::run) return;
  throw FailedPrecondition(str("[", who, "] decides by '", name,
                               "', which is volatile: the same run, done again, would ",
                               "decide otherwise. Choose a statistic of the model."));
}

std::vector<std::string> Monitors::scalar_names() const { return history_->names(); }

void Monitors::flush() {
  std::exception_ptr first;
  for (const auto& m : monitors_) {
    try {
      m->flush();
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  }
  if (first) std::rethrow_exception(first);
}

void Monitors::state(State& s) { history_->state(s); }

}  // namespace martello
