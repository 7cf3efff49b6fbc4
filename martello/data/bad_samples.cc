#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/data/error.h>
#include <martello/data/internal/bad_sample_guard.h>
#include <martello/data/interrupt.h>

#include <cmath>
#include <map>
#include <mutex>

namespace martello {

std::string_view to_string(OnBadSample action) {
  return action == OnBadSample::stop ? "stop" : action == OnBadSample::skip ? "skip" : "replace";
}

struct BadSampleList::Samples {
  mutable std::mutex mutex;
  std::map<std::pair<int64_t, int64_t>, std::string> causes;
};

BadSampleList::BadSampleList() : samples_(make_owned<Samples>()) {}
BadSampleList::~BadSampleList() = default;

void BadSampleList::add(BadSample sample) {
  const std::lock_guard lock(samples_->mutex);
  samples_->causes[{sample.pass, sample.ordinal}] = std::move(sample.cause);
}

std::vector<BadSample> BadSampleList::samples() const {
  const std::lock_guard lock(samples_->mutex);
  std::vector<BadSample> list;
  for (const auto& [where, cause] : samples_->causes) list.push_back({where.first, where.second, cause});
  return list;
}

namespace data::internal {
namespace {

std::string cause_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception that is no std::exception";
  }
}

bool is_interruption(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Interrupted&) {
    return true;
  } catch (...) {
    return false;
  }
}

[[noreturn]] void throw_with_cause(const std::exception_ptr& error, std::string message) {
  try {
    std::rethrow_exception(error);
  } catch (...) {
    std::throw_with_nested(DataError(std::move(message)));
  }
}

}  // namespace

void check_bad_samples(const BadSamples& options, const std::string& stage) {
  MARTELLO_CHECK(0 <= options.most && options.most <= 1, "[", stage, "] bad_samples.most is ", options.most,
                 "; it is a share between 0 and 1.");
  MARTELLO_CHECK(options.action != OnBadSample::replace || options.replacement.size() > 0, "[", stage,
                 "] bad samples are to be replaced, but bad_samples.replacement is empty.");
}

std::string description_of(const BadSamples& options) {
  if (options.action == OnBadSample::stop) return "";
  return str("bad=", options.action, ", most=", options.most);
}

BadSampleGuard::BadSampleGuard(BadSamples options, std::string stage, std::optional<int64_t> size, int64_t pass)
    : options_(std::move(options)), stage_(std::move(stage)), size_(size), pass_(pass) {}

std::optional<Datapoint> BadSampleGuard::handle(int64_t ordinal, const std::exception_ptr& error) {
  if (stops() || is_interruption(error)) std::rethrow_exception(error);
  const std::string cause = cause_of(error);
  const int64_t known = size_ ? *size_ : ordinal + 1;
  const auto allowed = static_cast<int64_t>(std::ceil(options_.most * static_cast<double>(known)));
  if (++bad_ > allowed)
    throw_with_cause(error,
                     str("[", stage_, "] ", bad_, " samples of ", known, " are bad, ", allowed,
                         " are allowed (bad_samples.most = ", options_.most, "). The last is ", ordinal, ": ", cause));
  logger::warn("[", stage_, "] sample ", ordinal, " of data pass ", pass_, " is bad (", options_.action, "): ", cause);
  if (options_.list) options_.list->add({pass_, ordinal, cause});
  if (options_.action == OnBadSample::skip) return std::nullopt;
  return options_.replacement;
}

}  // namespace data::internal
}  // namespace martello
