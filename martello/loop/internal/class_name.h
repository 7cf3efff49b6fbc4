#pragma once
#include <string>
#include <typeinfo>

namespace martello::internal {

// "Watch" for (anonymous namespace)::Watch, "Box<int>" for mine::Box<int>.
std::string class_name(const std::type_info& type);

}  // namespace martello::internal
