#pragma once
#include <martello/base/owned.h>
#include <martello/loop/monitor.h>

#include <optional>
#include <string>
#include <string_view>

// Monitors that write files. Without a directory of their own they use the logger's; without that they do nothing and
// say so. A disk that refuses rows never stops training: the rows wait, and the log says it.
namespace martello {

namespace internal {
class PendingScalars;
}

// A file of rows: scalars of a step after the step, those of the last step with the epoch's. A file that an earlier run
// of the same directory left is continued when it ends with the epoch before this run's first, else put aside.
class RowWriter : public Monitor {
 public:
  RowWriter(RowWriter&&) noexcept;
  ~RowWriter() override;
  void setup_graph() override;
  void before_train() override;
  void trigger_step() override;
  void trigger_epoch() override { add_rows(); }
  void after_train() override;
  void process_scalar(std::string_view name, double value) override;
  void process_volatile(std::string_view name, double value) override;
  void flush() override;
  // The length of the file and the row that is not complete yet: a resumed run cuts the file back to it.
  void state(State& s) override;

 protected:
  RowWriter(std::string dir, std::string_view file_name);
  virtual std::string header() const { return ""; }
  virtual std::optional<int64_t> epoch_of(const std::string& row) const = 0;
  virtual std::string rows_of(const internal::PendingScalars& scalars) const = 0;

 private:
  struct Impl;
  void add_rows();
  Owned<Impl> impl_;
};

// stats.jsonl: one line per step or epoch that has scalars; see stats_file.h.
class JSONWriter : public RowWriter {
 public:
  explicit JSONWriter(std::string dir = "");
  std::string name() const override { return "JSONWriter"; }

 protected:
  std::optional<int64_t> epoch_of(const std::string& row) const override;
  std::string rows_of(const internal::PendingScalars& scalars) const override;
};

// stats.csv: a line `epoch_num,global_step,class,name,value` per scalar, in the same moments as JSONWriter's.
class CSVWriter : public RowWriter {
 public:
  explicit CSVWriter(std::string dir = "");
  std::string name() const override { return "CSVWriter"; }

 protected:
  std::string header() const override;
  std::optional<int64_t> epoch_of(const std::string& row) const override;
  std::string rows_of(const internal::PendingScalars& scalars) const override;
};

struct TFEventWriterOptions {
  std::string dir = {};
  double flush_seconds = 120;  // an epoch that takes longer is written in between
  bool split_files = false;    // a new file per epoch
};
// TensorBoard's event file, events.out.tfevents.*: scalars, histograms, images, texts and the graph.
class TFEventWriter : public Monitor {
 public:
  explicit TFEventWriter(TFEventWriterOptions options = {});
  TFEventWriter(TFEventWriter&&) noexcept;
  ~TFEventWriter() override;
  void setup_graph() override;
  void before_train() override;
  void trigger_step() override;
  void trigger_epoch() override;
  void after_train() override;
  void process_scalar(std::string_view name, double value) override;
  void process_image(std::string_view name, const HostTensor& images) override;
  void process_histogram(std::string_view name, const HostTensor& values) override;
  void process_text(std::string_view name, std::string_view text) override;
  void process_event(const Event& event) override;
  void flush() override;
  void state(State& s) override;  // as RowWriter's; a resumed run goes on in the same file
  std::string name() const override { return "TFEventWriter"; }

 private:
  struct Impl;
  bool is_off() const;
  void stamp();
  Owned<Impl> impl_;
};

}  // namespace martello
