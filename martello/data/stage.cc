#include <martello/data/error.h>
#include <martello/data/internal/stage.h>
#include <martello/data/internal/stage_clock.h>

#include <algorithm>
#include <limits>

namespace martello::data::internal {
namespace {

constexpr std::string_view kStageMark = "in data stage ";

std::exception_ptr nested_error(const std::string& stage, const char* cause) {
  try {
    std::throw_with_nested(DataError(str("[data] ", cause, "\n  ", kStageMark, stage)));
  } catch (...) {
    return std::current_exception();
  }
}

class ComposedFlow final : public DataFlow {
 public:
  explicit ComposedFlow(FlowParts parts) : parts_(std::move(parts)) {}
  std::unique_ptr<DataIterator> iterate(Pass pass) const override { return parts_.iterate(std::move(pass)); }
  std::optional<int64_t> size() const override { return parts_.size; }
  std::shared_ptr<RandomAccess> random_access(const Pass& pass) const override {
    return parts_.random_access ? parts_.random_access(pass) : nullptr;
  }
  std::string description() const override {
    if (parts_.type.empty()) return parts_.sources[0].description();
    const std::string own = str(parts_.type, "(", parts_.options);
    if (parts_.sources.size() == 1) return str(parts_.sources[0].description(), ".", own, ")");
    std::vector<std::string> sources;
    for (const DataFlowRef& source : parts_.sources) sources.push_back(source.description());
    return str(own, parts_.options.empty() || sources.empty() ? "" : ", ", join(sources), ")");
  }
  bool is_exact() const override {
    return parts_.is_exact && std::all_of(parts_.sources.begin(), parts_.sources.end(),
                                          [](const DataFlowRef& source) { return source->is_exact(); });
  }

 private:
  FlowParts parts_;
};

}  // namespace

std::string stage_text(std::string_view type, const SourceLine& line, std::string_view name) {
  std::string text(type);
  if (!name.empty()) text += str(" '", name, "'");
  if (line.known()) text += str(" (", line, ")");
  return text;
}

std::exception_ptr current_error_in(const std::string& stage) {
  try {
    throw;
  } catch (Error& e) {
    if (std::string_view(e.what()).find(kStageMark) == std::string_view::npos) e.add_context(str(kStageMark, stage));
    return std::current_exception();
  } catch (const std::exception& e) {
    return nested_error(stage, e.what());
  } catch (...) {
    return nested_error(stage, "an exception that is no std::exception was thrown.");
  }
}

std::optional<Datapoint> StageIterator::next() {
  if (error_) [[unlikely]]
    std::rethrow_exception(error_);
  if (has_ended_) return std::nullopt;
  const StageScope scope(stage_);
  try {
    std::optional<Datapoint> dp = produce();
    has_ended_ = !dp;
    return dp;
  } catch (...) {
    error_ = current_error_in(stage_);
  }
  std::rethrow_exception(error_);
}

void StageIterator::state(State& s) {
  if (s.restoring()) {
    error_ = nullptr;
    has_ended_ = false;
  }
  position(s);
}

void StageIterator::skip(int64_t n) {
  MARTELLO_CHECK(n >= 0, "[data] skip(", n, "): a flow cannot go back.");
  if (error_) std::rethrow_exception(error_);
  if (has_ended_ || n == 0) return;
  try {
    advance(n);
  } catch (...) {
    error_ = current_error_in(stage_);
  }
  if (error_) std::rethrow_exception(error_);
}

void StageIterator::advance(int64_t n) {
  for (int64_t i = 0; i < n && !has_ended_; ++i) has_ended_ = !produce();
}

IndexedIterator::IndexedIterator(std::string stage, std::shared_ptr<RandomAccess> access)
    : StageIterator(std::move(stage)), access_(std::move(access)), count_(access_->count()) {}

std::optional<Datapoint> IndexedIterator::produce() {
  while (index_ < count_)
    if (std::optional<Datapoint> dp = access_->get(index_++)) return dp;
  return std::nullopt;
}

void IndexedIterator::position(State& s) {
  s("index", index_);
  MARTELLO_CHECK(0 <= index_ && index_ <= count_, "[", stage(), "] position ", index_,
                 " is restored, but the source has ", count_, " datapoints. It is another source, or has changed.");
  s("access", *access_);
}

void IndexedIterator::advance(int64_t n) {
  if (access_->may_drop()) return StageIterator::advance(n);
  index_ += std::min(n, count_ - index_);
}

DataFlowRef make_flow(FlowParts parts) { return make<ComposedFlow>(std::move(parts)); }

const DataFlowRef& checked_source(const DataFlowRef& flow, std::string_view type, const SourceLine& line) {
  MARTELLO_CHECK(flow, "[", stage_text(type, line), "] is composed with a DataFlowRef that holds no flow.");
  return flow;
}

void check_exact(const DataFlowRef& flow, std::string_view type, const SourceLine& line) {
  MARTELLO_CHECK(flow->is_exact(), "[", stage_text(type, line), "] ", flow.description(),
                 " is not ordered, so a restored position would lose and repeat datapoints. Put ", type,
                 "() before the map, or use {.ordered = true}.");
}

void check_sources(const std::vector<DataFlowRef>& flows, std::string_view type, const SourceLine& line) {
  MARTELLO_CHECK(!flows.empty(), "[", stage_text(type, line), "] needs one flow or more, got none.");
  for (const DataFlowRef& flow : flows) checked_source(flow, type, line);
}

int64_t saturating_mul(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<int64_t>::max() : product;
}

int64_t saturating_add(int64_t a, int64_t b) {
  int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}

}  // namespace martello::data::internal
