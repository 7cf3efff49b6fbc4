#pragma once
#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

namespace martello {

// A coroutine that gives values by co_yield.
template <class T>
class [[nodiscard]] Generator {
 public:
  struct promise_type {  // NOLINT(readability-identifier-naming): the language looks for this name
    std::optional<T> value;
    std::exception_ptr error;
    Generator get_return_object() { return Generator(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(T v) {
      value = std::move(v);
      return {};
    }
    void return_void() {}
    void unhandled_exception() { error = std::current_exception(); }
    void await_transform() = delete;
  };

  Generator(Generator&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Generator& operator=(Generator&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Generator() {
    if (handle_) handle_.destroy();
  }

  // The next value; none at the end. An error stays: every later call throws it again, so it cannot look like an end.
  std::optional<T> next() {
    if (!handle_) return std::nullopt;
    if (!handle_.done()) {
      handle_.promise().value.reset();
      handle_.resume();
    }
    if (handle_.promise().error) std::rethrow_exception(handle_.promise().error);
    if (handle_.done()) return std::nullopt;
    return std::move(handle_.promise().value);
  }

 private:
  explicit Generator(std::coroutine_handle<promise_type> handle) : handle_(handle) {}
  std::coroutine_handle<promise_type> handle_;
};

}  // namespace martello
