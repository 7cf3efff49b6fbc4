#pragma once
#include <martello/base/owned.h>
#include <martello/loop/monitor.h>

#include <string>
#include <string_view>

// Monitors that write files. Without a directory of their own they use the logger's; without that they do nothing and
// say so. A disk that refuses rows never stops training: the rows wait, and the log says it.
namespace martello {

// stats.jsonl: one line per step or epoch that has scalars; see stats_file.h. A file that an earlier run of the same
// directory left is continued when it ends with the epoch before this run's first, else put aside.
class JSONWriter : public Monitor {
 public:
  explicit JSONWriter(std::string dir = "");
  JSONWriter(JSONWriter&&) noexcept;
  ~JSONWriter() override;
  void setup_graph() override;
  void before_train() override;
  void trigger_step() override;
  void trigger_epoch() override;
  void after_train() override;
  void process_scalar(std::string_view name, double value) override;
  void process_volatile(std::string_view name, double value) override;
  void flush() override;
  std::string name() const override { return "JSONWriter"; }

 private:
  struct Impl;
  void add_row();
  Owned<Impl> impl_;
};

// stats.csv: a line `epoch_num,global_step,class,name,value` per scalar, in the same moments as JSONWriter's.
class CSVWriter : public Monitor {
 public:
  explicit CSVWriter(std::string dir = "");
  CSVWriter(CSVWriter&&) noexcept;
  ~CSVWriter() override;
  void setup_graph() override;
  void before_train() override;
  void trigger_step() override;
  void trigger_epoch() override;
  void after_train() override;
  void process_scalar(std::string_view name, double value) override;
  void process_volatile(std::string_view name, double value) override;
  void flush() override;
  std::string name() const override { return "CSVWriter"; }

 private:
  struct Impl;
  void add_rows();
  Owned<Impl> impl_;
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
  std::string name() const override { return "TFEventWriter"; }

 private:
  struct Impl;
  bool is_off() const;
  void stamp();
  Owned<Impl> impl_;
};

}  // namespace martello
