#pragma once
#include <martello/martello.h>

#include <functional>
#include <string>
#include <vector>

// Programs that a user could write and that must be refused: by an Error whose text names the node, both values and the
// line of the statement at fault.
namespace martello::testing {

struct WrongProgram {
  const char* label;
  void (*run)(unsigned& here);    // inside a fresh GraphScope; sets the line that the error has to show
  std::vector<std::string> says;  // parts of the error's text
};

struct WrongPrograms {
  WrongPrograms(const char* file, int line, WrongProgram program);  // registers a test
};

// A program of its own thread, where no scope is open.
void on_a_thread_of_its_own(const std::function<void()>& f);

inline Tensor input(Shape shape, DType dtype = f32, Name name = "x") {
  return placeholder(std::move(shape), dtype, name);
}

}  // namespace martello::testing

//   WRONG_PROGRAM(add_of_two_shapes, "[add 'sum']", "[2, 3]", "[4]") { ... HERE add(a, b, "sum"); }
#define WRONG_PROGRAM(label, ...)                                                                   \
  static void label([[maybe_unused]] unsigned& here);                                               \
  static const ::martello::testing::WrongPrograms register_##label(__FILE__, __LINE__,              \
                                                                   {#label, label, {__VA_ARGS__}}); \
  static void label([[maybe_unused]] unsigned& here)

// Stands before the statement at fault, on its line; without one the fault is in a text, whose own line the error says.
#define HERE here = __LINE__;
