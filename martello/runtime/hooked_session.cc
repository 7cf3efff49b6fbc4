#include <martello/runtime/hooked_session.h>

#include <martello/base/error.h>
#include <martello/graph/node.h>
#include <martello/runtime/internal/session_impl.h>

#include <algorithm>
#include <typeinfo>

namespace martello {
namespace {

constexpr size_t kMostPrepared = 8;  // sets of fetches that hooks alternate between

struct HookFeed {
  Tensor to;
  HostTensor value;
  int hook = -1;  // -1: the caller
};

// A prepared run and the sets it was made for.
struct Prepared {
  std::vector<Fetch> fetches;
  std::vector<Tensor> feeds;
  PreparedRun run;
};

}  // namespace

std::string RunHook::hook_name() const { return typeid(*this).name(); }

struct RunContext::State {
  State(Session& s, std::vector<RunHook*> h) : session(s), hooks(std::move(h)) {}

  Session& session;
  std::vector<RunHook*> hooks;
  const Fetches* original_fetches = nullptr;
  const Feeds* original_feeds = nullptr;

  std::vector<Fetch> fetches;       // the caller's, then each hook's
  std::vector<size_t> first_fetch;  // by hook, and one past the last
  std::vector<HookFeed> feeds;      // the first num_feeds are of this run; the others keep their memory
  size_t num_feeds = 0;
  RunTrace trace;
  double timeout_seconds = 0;
  bool is_traced = false;
  bool is_stopping = false;
  int hook = -1;  // whose turn it is
  bool is_after = false;
  std::vector<Prepared> prepared;  // most recent first

  std::string name_of(int h) const {
    return h < 0 ? "the caller of run()" : hooks[static_cast<size_t>(h)]->hook_name();
  }

  void begin(const Fetches& f, const Feeds& caller_feeds) {
    original_fetches = &f;
    original_feeds = &caller_feeds;
    fetches.assign(f.list().begin(), f.list().end());
    first_fetch.clear();
    num_feeds = 0;
    trace.events.clear();
    timeout_seconds = 0;
    is_traced = is_after = false;
    hook = -1;
  }

  void add_feed(Tensor to, const HostTensor& value) {
    for (size_t i = 0; i < num_feeds; ++i)
      MARTELLO_CHECK(!(feeds[i].to == to), "[hooked_session] '", to.name(), "' is fed by both ", name_of(feeds[i].hook),
                     " and ", name_of(hook), ". One value per run.\n  ", to.node()->context());
    if (num_feeds == feeds.size()) feeds.emplace_back();
    HookFeed& f = feeds[num_feeds++];
    f.to = to;
    f.value = value;
    f.hook = hook;
  }

  PreparedRun& find_or_prepare() {
    const auto feeds_end = feeds.begin() + static_cast<std::ptrdiff_t>(num_feeds);
    const auto matches = [&](const Prepared& p) {
      return p.fetches == fetches && std::equal(p.feeds.begin(), p.feeds.end(), feeds.begin(), feeds_end,
                                                [](const Tensor& t, const HookFeed& f) { return t == f.to; });
    };
    auto it = std::find_if(prepared.begin(), prepared.end(), matches);
    if (it == prepared.end()) {
      if (prepared.size() == kMostPrepared) prepared.pop_back();
      Prepared p{fetches, {}, {}};
      std::vector<Fetch> keys;
      for (auto f = feeds.begin(); f != feeds_end; ++f) {
        p.feeds.push_back(f->to);
        keys.push_back(Fetch(f->to, f->to.node()->line));
      }
      p.run = session.prepare(Fetches(fetches), keys);
      it = prepared.insert(prepared.begin(), std::move(p));
    } else if (it != prepared.begin()) {
      std::rotate(prepared.begin(), it, it + 1);
    }
    return prepared.front().run;
  }
};

int RunContext::fetch(Tensor t, SourceLine line) {
  MARTELLO_CHECK(!state_.is_after, "[run_context] fetch() belongs into before_run; the run is over.");
  state_.fetches.push_back(Fetch(t, line));
  return static_cast<int>(state_.fetches.size() - state_.first_fetch.back()) - 1;
}
int RunContext::fetch(Operation o, SourceLine line) {
  MARTELLO_CHECK(!state_.is_after, "[run_context] fetch() belongs into before_run; the run is over.");
  state_.fetches.push_back(Fetch(o, line));
  return static_cast<int>(state_.fetches.size() - state_.first_fetch.back()) - 1;
}
void RunContext::feed(Tensor t, const HostTensor& value) {
  MARTELLO_CHECK(!state_.is_after, "[run_context] feed() belongs into before_run; the run is over.");
  MARTELLO_CHECK(!t.is_null(), "[run_context] ", state_.name_of(state_.hook), " feeds a null Tensor.");
  state_.add_feed(t, value);
}
const HostTensor* RunContext::find_feed(Tensor t) const {
  for (size_t i = 0; i < state_.num_feeds; ++i)
    if (state_.feeds[i].to == t) return &state_.feeds[i].value;
  return nullptr;
}
void RunContext::trace(bool on) { state_.is_traced = state_.is_traced || on; }
void RunContext::timeout_seconds(double seconds) { state_.timeout_seconds = std::max(state_.timeout_seconds, seconds); }
void RunContext::request_stop() { state_.is_stopping = true; }

const HostTensor& RunContext::value(int i) const {
  MARTELLO_CHECK(state_.is_after, "[run_context] value() belongs into after_run; the run has not happened yet.");
  const size_t begin = state_.first_fetch[static_cast<size_t>(state_.hook)],
               end = state_.first_fetch[static_cast<size_t>(state_.hook) + 1];
  MARTELLO_CHECK(i >= 0 && begin + static_cast<size_t>(i) < end, "[run_context] ", state_.name_of(state_.hook),
                 " asks for value ", i, " of ", end - begin, " it fetched.");
  return state_.prepared.front().run.value(begin + static_cast<size_t>(i));
}
bool RunContext::was_skipped() const {
  MARTELLO_CHECK(state_.is_after, "[run_context] was_skipped() belongs into after_run; the run has not happened yet.");
  return state_.prepared.front().run.was_skipped();
}
const RunTrace& RunContext::run_trace() const { return state_.trace; }
const Fetches& RunContext::original_fetches() const { return *state_.original_fetches; }
const Feeds& RunContext::original_feeds() const { return *state_.original_feeds; }
Session& RunContext::sess() const { return state_.session; }

HookedSession::HookedSession(Session& session, std::vector<RunHook*> hooks)
    : state_(make_owned<RunContext::State>(session, std::move(hooks))) {}
HookedSession::~HookedSession() = default;
HookedSession::HookedSession(HookedSession&&) noexcept = default;
bool HookedSession::should_stop() const { return state_->is_stopping; }

HostTensors HookedSession::run(const Fetches& fetches, const Feeds& feeds) {
  execute(fetches, feeds);
  HostTensors values;
  for (size_t i = 0; i < fetches.list().size(); ++i) values.push_back(state_->prepared.front().run.value(i));
  return values;
}

void HookedSession::execute(const Fetches& fetches, const Feeds& feeds) {
  auto& s = *state_;
  if (s.is_stopping) throw FailedPrecondition("[hooked_session] run() after a stop was requested.");
  RunContext context(s);
  s.begin(fetches, feeds);
  for (const Feed& f : feeds) s.add_feed(s.session.impl().fed_tensor(f.to), f.value);
  for (s.hook = 0; s.hook < static_cast<int>(s.hooks.size()); ++s.hook) {
    s.first_fetch.push_back(s.fetches.size());
    s.hooks[static_cast<size_t>(s.hook)]->before_run(context);
  }
  s.first_fetch.push_back(s.fetches.size());
  PreparedRun& run = s.find_or_prepare();
  for (size_t i = 0; i < s.num_feeds; ++i) run.feed(i, s.feeds[i].value);
  run.impl_->stream = 0;
  run.impl_->timeout_seconds = s.timeout_seconds;
  run.impl_->run(s.is_traced ? &s.trace : nullptr);
  s.is_after = true;
  for (s.hook = 0; s.hook < static_cast<int>(s.hooks.size()); ++s.hook)
    s.hooks[static_cast<size_t>(s.hook)]->after_run(context);
}

}  // namespace martello
