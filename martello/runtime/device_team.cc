#include <martello/runtime/internal/device_team.h>

#include <martello/runtime/internal/aborted.h>

namespace martello {
namespace {

bool is_consequence(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Aborted&) {
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace

DeviceTeam::~DeviceTeam() {
  {
    std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  wake_.notify_all();
  for (auto& w : workers_) w->thread.join();
}

void DeviceTeam::grow(size_t devices) {
  while (workers_.size() + 1 < devices) {
    workers_.push_back(std::make_unique<Worker>());
    workers_.back()->thread = std::thread([this, device = workers_.size()] { work(device); });
  }
}

void DeviceTeam::run_all(size_t devices, Call call, void* context) {
  {
    std::lock_guard lock(mutex_);
    grow(devices);
    call_ = call;
    context_ = context;
    running_ = devices - 1;
    for (size_t d = 1; d < devices; ++d) {
      workers_[d - 1]->error = nullptr;
      workers_[d - 1]->has_job = true;
    }
  }
  wake_.notify_all();
  std::exception_ptr first;
  try {
    call(context, 0);
  } catch (...) {
    first = std::current_exception();
  }
  std::unique_lock lock(mutex_);
  done_.wait(lock, [&] { return running_ == 0; });
  for (size_t d = 1; d < devices; ++d) {
    const auto& error = workers_[d - 1]->error;
    if (error && (!first || (is_consequence(first) && !is_consequence(error)))) first = error;
  }
  if (first) std::rethrow_exception(first);
}

void DeviceTeam::work(size_t device) {
  std::unique_lock lock(mutex_);
  for (;;) {
    Worker& self = *workers_[device - 1];
    wake_.wait(lock, [&] { return self.has_job || is_ending_; });
    if (is_ending_) return;
    self.has_job = false;
    const Call call = call_;
    void* context = context_;
    lock.unlock();
    std::exception_ptr error;
    try {
      call(context, device);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    self.error = error;
    if (--running_ == 0) done_.notify_one();
  }
}

}  // namespace martello
