#pragma once
#include <martello/models/opt.h>

#include <memory>
#include <utility>
#include <vector>

namespace martello {

// Defaults for layers built in this block on this thread. Inner wins over outer, a call's own option wins over both.
//   ArgScope scope(Conv2D{.kernel = 3, .use_bias = false}, BatchNorm{.momentum = 0.95});
class ArgScope {
 public:
  template <LayerOptions... L>
  requires(sizeof...(L) > 0) [[nodiscard]] explicit ArgScope(L... options) { (push(std::move(options)), ...); }
  ~ArgScope();
  ArgScope(const ArgScope&) = delete;
  ArgScope& operator=(const ArgScope&) = delete;

 private:
  template <class L>
  void push(L options) {
    const auto outer = top(key<L>());
    if (outer) options = merged(std::move(options), *static_cast<const L*>(outer.get()));
    set(key<L>(), std::make_shared<L>(std::move(options)));
  }
  template <class L>
  static const void* key() {
    static const char address = 0;
    return &address;
  }
  template <LayerOptions L>
  friend L with_arg_scope(L call);
  static std::shared_ptr<const void> top(const void* key);
  void set(const void* key, std::shared_ptr<const void> options);

  std::vector<std::pair<const void*, std::shared_ptr<const void>>> saved_;
};

// A call's options after the scopes around it; the first line of every layer, a user's own too. With `L{}` it tells
// what the scopes set.
template <LayerOptions L>
L with_arg_scope(L call) {
  const auto scope = ArgScope::top(ArgScope::key<L>());
  return scope ? merged(std::move(call), *static_cast<const L*>(scope.get())) : call;
}

}  // namespace martello
