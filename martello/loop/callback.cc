#include <martello/loop/callback.h>

#include <martello/base/error.h>
#include <martello/loop/internal/class_name.h>

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace martello {

std::string internal::class_name(const std::type_info& type) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(type.name(), nullptr, nullptr, &status),
                                                    std::free);
  std::string name = status == 0 ? text.get() : type.name();
  const size_t end = std::min(name.find('<'), name.size());
  const size_t colon = name.rfind("::", end);
  return colon == std::string::npos || colon > end ? name : name.substr(colon + 2);
}

std::string Callback::name() const { return internal::class_name(typeid(*this)); }

std::string Callback::name_scope() const {
  std::string scope = name();
  std::erase_if(scope, [](char c) { return c == '_' || c == '<' || c == '>' || c == ' ' || c == ':' || c == ','; });
  return scope;
}

TrainContext& Callback::context() const {
  if (!context_)
    throw FailedPrecondition(
        str("[callback '", name(),
            "'] asks for its context outside training: it has one from setup_graph to after_train. A wrapper names "
            "what it wraps in inner_callbacks()."));
  return *context_;
}

void Callback::attach(TrainContext* context) {
  context_ = context;
  for (const Ref<Callback>& inner : inner_callbacks()) {
    MARTELLO_CHECK(inner, "[callback '", name(), "'] wraps a null callback.");
    inner->attach(context);
  }
}

}  // namespace martello
