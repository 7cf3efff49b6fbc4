#include <martello/callbacks/process_tensors.h>

#include <martello/base/error.h>
#include <martello/base/log.h>

namespace martello {

ProcessTensors::ProcessTensors(std::vector<std::string> names, Function process, SourceLine line)
    : names_(std::move(names)), line_(line), function_(std::move(process)) {
  check_names();
  MARTELLO_CHECK(function_, "[ProcessTensors] the function that takes the values is empty.");
}

void ProcessTensors::check_names() const {
  MARTELLO_CHECK(!names_.empty(), "[", name(), "] was given no names of tensors.");
}

void ProcessTensors::setup_graph() {
  for (const std::string& n : names_) tensors_.push_back(context().get_tensor(n, line_));
  values_.assign(names_.size(), nothing_);
}

void ProcessTensors::before_run(RunContext& run) {
  for (const Tensor& t : tensors_) run.fetch(t, SourceLine());
}

void ProcessTensors::after_run(RunContext& run) {
  for (size_t i = 0; i < tensors_.size(); ++i) values_[i] = run.value(static_cast<int>(i));
  process(values_);
  for (HostTensor& value : values_) value = nothing_;
}

TensorPrinter::TensorPrinter(std::vector<std::string> names, SourceLine line) : ProcessTensors(std::move(names), line) {
  check_names();
}

void TensorPrinter::setup_graph() {
  logger::warn("[TensorPrinter] prints ", join(names()), " in every run, which is slow.");
  ProcessTensors::setup_graph();
}

void TensorPrinter::process(const HostTensors& values) {
  for (size_t i = 0; i < values.size(); ++i) logger::info("[TensorPrinter] ", names()[i], ": ", values[i]);
}

}  // namespace martello
