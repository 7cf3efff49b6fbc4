#pragma once
#include <martello/data/rng.h>

#include <array>
#include <span>

// A pole that hangs from a cart on a short track. Pushing the cart can swing it up, and can keep it there.
class CartPole {
 public:
  static constexpr int kSteps = 500;  // of an attempt, 10 seconds
  static constexpr int kObservations = 5;

  explicit CartPole(martello::Rng rng);
  // Pushes with a force in [-1, 1] for 20 ms. False: the cart has left its track.
  bool push(double force);
  double height() const;  // of the pole's end: -1 hanging, 1 upright
  std::array<double, kObservations> observe() const;

 private:
  double position_, speed_, angle_, turn_;
};

// A network of 5 inputs, 10 hidden units and 1 output that says how to push.
namespace policy {

inline constexpr int kHidden = 10;
inline constexpr int kParameters = kHidden * (CartPole::kObservations + 2) + 1;

struct Attempt {
  double reward = 0;       // 1 for each step upright, 0 for each hanging
  bool is_upright = true;  // through the last four seconds
};
Attempt attempt(std::span<const float> parameters, martello::Rng rng);

}  // namespace policy
