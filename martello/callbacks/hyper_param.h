#pragma once
#include <martello/base/ref.h>
#include <martello/loop/train_context.h>

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace martello {

class State;

// A number that callbacks set while training runs: a learning rate, the strength of an augmentation.
class HyperParam {
 public:
  HyperParam() = default;
  HyperParam(HyperParam&&) = default;
  virtual ~HyperParam() = default;

  virtual std::string readable_name() const = 0;
  // Finds what it stands for; called once, before the graph is final.
  virtual void setup_graph(TrainContext&) {}
  // InvalidArgument for a value that it cannot hold.
  virtual void check(double /*value*/) const {}
  // From before_train on.
  virtual double get_value(TrainContext& context) const = 0;
  virtual void set_value(TrainContext& context, double value) = 0;
  // Of what no checkpoint holds otherwise.
  virtual void state(State&) {}
};

// A scalar variable of the graph, GLOBAL or LOCAL, by its exact name.
class GraphVarParam : public HyperParam {
 public:
  explicit GraphVarParam(std::string variable, SourceLine line = SourceLine::current())
      : name_(std::move(variable)), line_(line) {}
  std::string readable_name() const override { return name_; }
  void setup_graph(TrainContext& context) override;
  void check(double value) const override;
  double get_value(TrainContext& context) const override;
  void set_value(TrainContext& context, double value) override;

 private:
  std::string name_;
  SourceLine line_;
  Tensor variable_;
  HostTensor value_;  // written into the variable; its memory is used again
};

// A number in the user's own program. What it stands for outlives training: the object is shared, functions hold what
// they need. Its value is saved with the callback that sets it.
//   auto noise = make<Noise>();
//   ScheduledHyperParamSetter(ObjAttrParam(noise, &Noise::strength, "noise"), {{10, 0.5}, {20, 0.1}})
class ObjAttrParam : public HyperParam {
 public:
  ObjAttrParam(std::string readable_name, std::function<double()> get, std::function<void(double)> set);
  template <class T, class N>
  requires std::convertible_to<N, double> ObjAttrParam(std::shared_ptr<T> object, N T::*attribute,
                                                       std::string readable_name)
      : ObjAttrParam(
            std::move(readable_name), [object, attribute] { return static_cast<double>((*object).*attribute); },
            [object, attribute](double value) { (*object).*attribute = static_cast<N>(value); }) {}
  std::string readable_name() const override { return name_; }
  double get_value(TrainContext&) const override { return get_(); }
  void set_value(TrainContext&, double value) override { set_(value); }
  void state(State& s) override;

 private:
  std::string name_;
  std::function<double()> get_;
  std::function<void(double)> set_;
};

// How setters take their parameter: the name of a variable, or a HyperParam.
class HyperParamRef {
 public:
  HyperParamRef(const char* variable, SourceLine line = SourceLine::current())
      : HyperParamRef(std::string(variable), line) {}
  HyperParamRef(std::string variable, SourceLine line = SourceLine::current());
  template <class P>
  requires std::convertible_to<P, Ref<HyperParam>> HyperParamRef(P&& param) : param_(std::forward<P>(param)) {}
  const Ref<HyperParam>& get() const { return param_; }

 private:
  Ref<HyperParam> param_;
};

}  // namespace martello
