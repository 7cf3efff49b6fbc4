#include <gtest/gtest.h>
#include <martello/base/ref.h>

namespace martello {
namespace {

struct Animal {
  virtual ~Animal() = default;
  virtual int legs() const = 0;
};
struct Bird : Animal {
  int legs() const override { return 2; }
};
struct Dog : Animal {
  explicit Dog(int legs) : legs_(legs) {}
  int legs() const override { return legs_; }
  int legs_;
};

TEST(Ref, is_made_from_a_value) {
  const Ref<Animal> animal = Dog(3);
  EXPECT_EQ(animal->legs(), 3);
}

TEST(Ref, shares_with_the_maker) {
  const auto dog = make<Dog>(4);
  const Ref<Animal> animal = dog;
  dog->legs_ = 5;
  EXPECT_EQ((*animal).legs(), 5);
}

TEST(Ref, takes_over_a_unique_pointer) {
  const Ref<Animal> animal = std::make_unique<Bird>();
  EXPECT_EQ(animal->legs(), 2);
}

TEST(Ref, converts_to_a_ref_of_the_base) {
  const Ref<Dog> dog = make<Dog>(4);
  const Ref<Animal> animal = dog;
  EXPECT_EQ(animal.get(), dog.get());
}

TEST(Ref, is_empty_by_default_and_from_nullptr) {
  EXPECT_FALSE(Ref<Animal>());
  EXPECT_FALSE(Ref<Animal>(nullptr));
}

TEST(Ref, a_named_object_must_be_moved) {
  static_assert(!std::is_constructible_v<Ref<Animal>, Dog&>);
  static_assert(!std::is_constructible_v<Ref<Animal>, const Dog&>);
  static_assert(std::is_constructible_v<Ref<Animal>, Dog>);
}

}  // namespace
}  // namespace martello
