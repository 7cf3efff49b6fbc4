#include <martello/data/interrupt.h>

#include <map>
#include <mutex>

namespace martello {

struct Interrupt::Wakers {
  mutable std::mutex mutex;
  bool is_raised = false;
  int64_t next = 0;
  std::map<int64_t, std::function<void()>> wakers;
};

Interrupt::Interrupt() : wakers_(make_owned<Wakers>()) {}
Interrupt::~Interrupt() = default;

void Interrupt::raise() {
  const std::lock_guard lock(wakers_->mutex);
  if (wakers_->is_raised) return;
  wakers_->is_raised = true;
  for (const auto& [id, wake] : wakers_->wakers) wake();
}

bool Interrupt::is_raised() const {
  const std::lock_guard lock(wakers_->mutex);
  return wakers_->is_raised;
}

int64_t Interrupt::add(std::function<void()> wake) {
  const std::lock_guard lock(wakers_->mutex);
  if (wakers_->is_raised) wake();
  wakers_->wakers.emplace(wakers_->next, std::move(wake));
  return wakers_->next++;
}

void Interrupt::remove(int64_t id) {
  const std::lock_guard lock(wakers_->mutex);
  wakers_->wakers.erase(id);
}

}  // namespace martello
