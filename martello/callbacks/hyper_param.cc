#include <martello/callbacks/hyper_param.h>

#include <martello/base/error.h>
#include <martello/base/state.h>
#include <martello/graph/collections.h>

#include <cmath>

namespace martello {
namespace {

Tensor get_variable_named(const Graph& graph, const std::string& name) {
  std::vector<std::string> names;
  for (const auto key : {kGlobalVariables, kLocalVariables}) {
    for (const Variable& v : graph.collections().get(key)) {
      if (v.handle().name() == name) return v.handle();
      names.push_back(v.handle().name());
    }
  }
  throw NotFound(str("[GraphVarParam] the graph has no variable '", name, "'.", did_you_mean(name, names)));
}

}  // namespace

void GraphVarParam::setup_graph(TrainContext& context) {
  with_line(line_, [&] {
    variable_ = get_variable_named(context.graph(), name_);
    MARTELLO_CHECK(variable_.rank() == 0, "[GraphVarParam] variable '", name_, "' is ", variable_.dtype(),
                   variable_.shape(), ", not a scalar.");
  });
  value_ = HostTensor(Shape(), variable_.dtype());
}

void GraphVarParam::check(double value) const {
  MARTELLO_CHECK(is_floating(variable_.dtype()) || value == std::trunc(value), "[GraphVarParam] variable '", name_,
                 "' is ", variable_.dtype(), " and cannot hold ", value, ". Make it f32.");
}

double GraphVarParam::get_value(TrainContext& context) const { return context.sess().get(variable_).at(0); }

void GraphVarParam::set_value(TrainContext& context, double value) {
  check(value);
  value_.set(0, value);
  context.sess().set(variable_, value_);
}

ObjAttrParam::ObjAttrParam(std::string readable_name, std::function<double()> get, std::function<void(double)> set)
    : name_(std::move(readable_name)), get_(std::move(get)), set_(std::move(set)) {
  MARTELLO_CHECK(get_ && set_, "[ObjAttrParam] '", name_, "' needs a function that gets it and one that sets it.");
}

void ObjAttrParam::state(State& s) {
  double value = get_();
  s("value", value);
  if (s.restoring()) set_(value);
}

HyperParamRef::HyperParamRef(std::string variable, SourceLine line)
    : param_(GraphVarParam(std::move(variable), line)) {}

}  // namespace martello
