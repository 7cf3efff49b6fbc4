#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/base/threads.h>
#include <martello/data/internal/map.h>
#include <martello/data/internal/parallel_iterator.h>

namespace martello {

using namespace data::internal;

namespace {

constexpr int kMostThreads = 1024;

void check_buffer(const std::string& stage, int64_t bytes) {
  MARTELLO_CHECK(bytes >= 1, "[", stage, "] a buffer of ", bytes, " bytes; it must be positive.");
}

}  // namespace

DataFlowRef DataFlowRef::parallel_map_of(MapFunction f, const ParallelOptions& o, SourceLine line) const {
  const DataFlowRef source = checked_source(*this, "parallel_map", line);
  const std::string stage = stage_text("parallel_map", line, o.name);
  MARTELLO_CHECK(f, "[", stage, "] the function is empty.");
  MARTELLO_CHECK(0 <= o.threads && o.threads <= kMostThreads, "[", stage, "] ", o.threads,
                 " threads; there must be 1 to ", kMostThreads, ", or 0 for one for each core.");
  check_buffer(stage, o.buffer_bytes);
  check_bad_samples(o.bad_samples, stage);
  const ParallelParts parts{source,    std::move(f),   stage,        o.threads == 0 ? default_threads() : o.threads,
                            o.ordered, o.buffer_bytes, o.bad_samples};
  // Neither threads nor buffers are part of what a flow is: with any of them it is map().
  std::string options = map_description(o.name, o.version, o.bad_samples, line);
  if (!o.ordered) options += options.empty() ? "unordered" : ", unordered";
  FlowParts flow{.type = "map", .options = options, .sources = {source}, .is_exact = o.ordered};
  if (!parts.f.may_drop() && o.bad_samples.action != OnBadSample::skip) flow.size = source.size();
  flow.iterate = [parts](const Pass& pass) {
    if (!parts.ordered)
      logger::info("[", parts.stage,
                   "] is not ordered: a resumed run reads the same datapoints, but not in the same order.");
    return std::make_unique<ParallelIterator>(parts, pass);
  };
  return make_flow(std::move(flow));
}

DataFlowRef DataFlowRef::prefetch(PrefetchOptions options, SourceLine line) const {
  const DataFlowRef source = checked_source(*this, "prefetch", line);
  const std::string stage = stage_text("prefetch", line);
  check_buffer(stage, options.buffer_bytes);
  const ParallelParts parts{.source = source, .f = {}, .stage = stage, .buffer_bytes = options.buffer_bytes};
  return make_flow({.type = "", .sources = {source}, .size = source.size(), .iterate = [parts](const Pass& pass) {
                      return std::make_unique<ParallelIterator>(parts, pass);
                    }});
}

}  // namespace martello
