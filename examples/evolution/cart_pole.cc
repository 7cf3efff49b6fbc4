#include "cart_pole.h"

#include <cmath>
#include <numbers>

namespace {

constexpr double kGravity = 9.8, kCartMass = 1, kPoleMass = 0.1, kHalfPole = 0.5, kForce = 10, kSeconds = 0.02;
constexpr double kTrack = 2.4, kUpright = 0.95;
constexpr int kStepsToSwing = 300;

}  // namespace

CartPole::CartPole(martello::Rng rng) {
  const auto small = [&] { return 0.1 * rng.uniform() - 0.05; };
  position_ = small();
  speed_ = small();
  angle_ = std::numbers::pi + small();
  turn_ = small();
}

// Newton's laws for a cart and a thin pole (Barto, Sutton and Anderson, 1983), one Euler step.
bool CartPole::push(double force) {
  const double total = kCartMass + kPoleMass, sine = std::sin(angle_), cosine = std::cos(angle_);
  const double common = (kForce * force + kPoleMass * kHalfPole * turn_ * turn_ * sine) / total;
  const double turning =
      (kGravity * sine - cosine * common) / (kHalfPole * (4.0 / 3 - kPoleMass * cosine * cosine / total));
  const double acceleration = common - kPoleMass * kHalfPole * turning * cosine / total;
  position_ += kSeconds * speed_;
  speed_ += kSeconds * acceleration;
  angle_ += kSeconds * turn_;
  turn_ += kSeconds * turning;
  return std::abs(position_) < kTrack;
}

double CartPole::height() const { return std::cos(angle_); }

std::array<double, CartPole::kObservations> CartPole::observe() const {
  return {position_ / kTrack, speed_ / 3, std::cos(angle_), std::sin(angle_), turn_ / 5};
}

namespace policy {
namespace {

double force(std::span<const float> parameters, const std::array<double, CartPole::kObservations>& seen) {
  const float* p = parameters.data();
  double output = 0;
  for (int unit = 0; unit < kHidden; ++unit) {
    double sum = *p++;
    for (const double s : seen) sum += *p++ * s;
    output += *p++ * std::tanh(sum);
  }
  return std::tanh(output + *p);
}

}  // namespace

Attempt attempt(std::span<const float> parameters, martello::Rng rng) {
  CartPole pole(rng);
  Attempt result;
  for (int step = 0; step < CartPole::kSteps; ++step) {
    if (!pole.push(force(parameters, pole.observe()))) {
      result.is_upright = false;
      break;
    }
    result.reward += (1 + pole.height()) / 2;
    if (step >= kStepsToSwing && pole.height() < kUpright) result.is_upright = false;
  }
  return result;
}

}  // namespace policy
