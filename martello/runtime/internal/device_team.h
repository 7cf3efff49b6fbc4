#pragma once
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace martello {

// One thread per device beyond the first, which is the caller's. They sleep between jobs. Belongs to one lane.
class DeviceTeam {
 public:
  DeviceTeam() = default;
  ~DeviceTeam();
  DeviceTeam(const DeviceTeam&) = delete;
  DeviceTeam& operator=(const DeviceTeam&) = delete;

  // Calls job(device) for every device in [0, devices) at once and returns when all are done. The error of the lowest
  // device that is not just a consequence of another's is thrown.
  template <class F>
  void run(size_t devices, F&& job) {
    if (devices == 1) return job(size_t{0});
    using Job = std::remove_reference_t<F>;
    run_all(
        devices, [](void* context, size_t device) { (*static_cast<Job*>(context))(device); },
        const_cast<void*>(static_cast<const void*>(std::addressof(job))));
  }

 private:
  using Call = void (*)(void*, size_t);
  struct Worker {
    std::thread thread;
    bool has_job = false;
    std::exception_ptr error;
  };
  void run_all(size_t devices, Call call, void* context);
  void grow(size_t devices);
  void work(size_t device);

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::vector<std::unique_ptr<Worker>> workers_;  // of devices 1 ...
  Call call_ = nullptr;
  void* context_ = nullptr;
  size_t running_ = 0;
  bool is_ending_ = false;
};

}  // namespace martello
