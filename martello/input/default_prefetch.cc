#include <martello/input/default_prefetch.h>

#include <martello/base/error.h>
#include <martello/base/log.h>
#include <martello/input/queue_input.h>
#include <martello/input/staging_input.h>
#include <martello/tensor/device.h>

#include <algorithm>

namespace martello {
namespace {

bool wants_staging(const std::vector<std::string>& devices) {
  return devices.size() > 1 || std::any_of(devices.begin(), devices.end(), [](const std::string& d) {
           return !d.empty() && Device::parse(d).kind != DeviceKind::cpu;
         });
}

}  // namespace

Ref<InputSource> apply_default_prefetch(DataFlowRef flow, const std::vector<std::string>& devices) {
  return apply_default_prefetch(Ref<InputSource>(QueueInput(std::move(flow))), devices);
}

Ref<InputSource> apply_default_prefetch(Ref<InputSource> input, const std::vector<std::string>& devices) {
  MARTELLO_CHECK(input, "[trainer] its input is null.");
  if (!wants_staging(devices) || !dynamic_cast<const QueueInput*>(input.get())) return input;
  logger::info("[trainer] its input is staged for ", devices.size(), " devices.");
  return StagingInput(std::move(input));
}

}  // namespace martello
