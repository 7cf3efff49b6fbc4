#pragma once
#include <martello/martello.h>

#include <functional>
#include <string>
#include <vector>

// Programs that a user could write and that must be refused: by an Error whose text names the node, both values and the
// line of the statement at fault.
namespace martello::testing {

// Set by HERE to the line that the error has to show.
using Line = unsigned;

struct WrongProgram {
  const char* label;
  void (*run)(Line& here);        // inside a fresh GraphScope
  std::vector<std::string> says;  // parts of the error's text
};

struct WrongPrograms {
  WrongPrograms(const char* file, std::vector<WrongProgram> rows);  // registers one test per row
};

// A program of its own thread, where no scope is open.
void on_a_thread_of_its_own(const std::function<void()>& f);

inline Tensor input(Shape shape, DType dtype = f32, Name name = "x") { return placeholder(std::move(shape), dtype, name); }

}  // namespace martello::testing

// Stands before the statement at fault, on its line.
#define HERE here = __LINE__;
