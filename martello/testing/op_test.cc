#include <martello/testing/op_test.h>

#include <martello/graph/core_ops.h>
#include <martello/graph/internal/field_visitor.h>
#include <martello/graph/node.h>
#include <martello/runtime/session.h>
#include <martello/testing/grad_check.h>
#include <martello/testing/internal/compare.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace martello::testing {
namespace {

struct BuiltCase {
  Graph graph;
  TensorList xs, ys;
};

Shape unknown_like(const Shape& shape) {
  return Shape(std::vector<int64_t>(static_cast<size_t>(shape.rank()), kUnknown));
}

BuiltCase build_case(const OpCase& c, const HostTensors& inputs, bool unknown_shapes) {
  BuiltCase built;
  GraphScope scope(built.graph);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Shape& shape = inputs[i].shape();
    built.xs.push_back(placeholder(unknown_shapes ? unknown_like(shape) : shape, inputs[i].dtype(), str("x", i)));
  }
  built.ys = c.build(built.xs);
  for (const Tensor& y : built.ys) MARTELLO_CHECK(!y.is_null(), "[op_test] build() returned a null Tensor.");
  return built;
}

HostTensors run_case(const BuiltCase& built, const HostTensors& inputs, SessionOptions options = {.threads = 1}) {
  Feeds feeds;
  for (size_t i = 0; i < inputs.size(); ++i) feeds.push_back({built.xs[i], inputs[i]});
  return Session(built.graph, std::move(options)).run(built.ys, feeds);
}

// Text names ops and host functions; those of a user's test are not known yet.
void register_what_text_names(const Graph& graph) {
  for (const auto& node : graph.impl().nodes) {
    if (!find_op(node->def->name)) register_op(*node->def);
    internal::for_each_field<HostFunction>(node->attrs, [](const char*, const HostFunction& f) {
      if (!f.is_null()) register_host_function(f);
    });
    internal::for_each_field<Subgraph>(node->attrs, [](const char*, const Subgraph& body) {
      if (!body.is_null()) register_what_text_names(body.graph());
    });
  }
}

class CaseRunner {
 public:
  CaseRunner(const std::string& op, const OpCase& c, DType dtype)
      : case_(c), dtype_(dtype), title_(str(op, ", row '", c.label, "', ", dtype)) {
    for (const HostTensor& t : c.inputs) inputs_.push_back(is_floating(t.dtype()) ? t.cast(dtype) : t);
  }

  void run() {
    built_ = build_case(case_, inputs_, false);
    results_ = run_case(built_, inputs_);
    check_inferred(built_, "with known shapes");
    check_values();
    if (case_.unknown_shapes) check_unknown_shapes();
    if (case_.same_bits) check_threads();
    if (case_.text_round_trip) check_text();
  }

 private:
  void expect_none(const std::string& difference, std::string_view what, size_t output) const {
    EXPECT_TRUE(difference.empty()) << title_ << ": output " << output << " " << what << ": " << difference;
  }

  // An inferred size is the actual one; of rows that depend on data it is a bound.
  void check_inferred(const BuiltCase& built, const char* how) const {
    for (size_t i = 0; i < built.ys.size(); ++i) {
      const NodeOutput& inferred = output_of(built.ys[i]);
      const Shape &said = inferred.shape, &actual = results_[i].shape();
      bool agrees = inferred.dtype == results_[i].dtype() && said.rank() == actual.rank();
      for (int d = 0; agrees && d < said.rank(); ++d) {
        const bool is_bound = d == 0 && inferred.has_dynamic_rows;
        agrees = said[d] == kUnknown || (is_bound ? actual[d] <= said[d] : actual[d] == said[d]);
      }
      EXPECT_TRUE(agrees) << title_ << ": output " << i << " was inferred " << how << " as " << inferred.spec().str()
                          << " but is " << str(results_[i].dtype(), actual);
    }
  }

  void check_values() const {
    if (!case_.reference) return;
    const HostTensors expected = case_.reference(inputs_);
    ASSERT_EQ(results_.size(), expected.size()) << title_ << ": outputs of the op and of its reference";
    const double tolerance = case_.tolerance != 0 ? case_.tolerance : default_tolerance(dtype_);
    for (size_t i = 0; i < results_.size(); ++i)
      expect_none(difference(results_[i], expected[i], tolerance), "differs from the reference", i);
  }

  void expect_same_bits(const HostTensors& again, std::string_view what) const {
    ASSERT_EQ(again.size(), results_.size()) << title_ << " " << what;
    for (size_t i = 0; i < again.size(); ++i) expect_none(bit_difference(again[i], results_[i]), what, i);
  }

  void check_unknown_shapes() const {
    const BuiltCase built = build_case(case_, inputs_, true);
    check_inferred(built, "with unknown dimensions");
    expect_same_bits(run_case(built, inputs_), "built with unknown dimensions gives other bits");
  }

  void check_threads() const {
    for (int threads : {2, 4}) {
      const HostTensors again =
          run_case(built_, inputs_, {.threads = threads, .always_parallel = true, .poison_arena = true});
      expect_same_bits(again, str("gives other bits with ", threads, " threads over poisoned memory"));
    }
  }

  void check_text() const {
    register_what_text_names(built_.graph);
    const std::string text = built_.graph.text();
    BuiltCase parsed{parse_graph(text), {}, {}};
    EXPECT_EQ(parsed.graph.text(), text) << title_ << ": the graph changed on its way through text";
    for (const Tensor& x : built_.xs) parsed.xs.push_back(parsed.graph.get_tensor(x.name()));
    for (const Tensor& y : built_.ys) parsed.ys.push_back(parsed.graph.get_tensor(y.name()));
    expect_same_bits(run_case(parsed, inputs_), "of the graph read from text has other bits");
  }

  const OpCase& case_;
  DType dtype_;
  std::string title_;
  HostTensors inputs_, results_;
  BuiltCase built_;
};

void check_gradient(const std::string& op, const OpCase& c) {
  const OpDef* def = find_op(op);
  const bool is_refused = def && def->gradient == not_differentiable;
  if (!c.gradient || is_refused) return;
  try {
    check_gradients(c.build, c.inputs,
                    {.tolerance = c.gradient_tolerance, .step = c.step, .second_order = c.second_order});
  } catch (const Error& error) {
    ADD_FAILURE() << op << ", row '" << c.label << "', gradient: " << error.what();
  }
}

std::map<std::string, size_t>& row_counts() {
  static std::map<std::string, size_t> counts;
  return counts;
}

class RowTest : public ::testing::Test {
 public:
  RowTest(std::string op, OpCase c) : op_(std::move(op)), case_(std::move(c)) {}
  void TestBody() override { run_op_case(op_, case_); }

 private:
  std::string op_;
  OpCase case_;
};

// A label as a test's name, with a number when another row of the op has it.
std::string test_name(const std::string& op, const std::string& label) {
  static std::map<std::string, int> used;
  std::string name = label.empty() ? "row" : label;
  for (char& c : name) {
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  }
  const int repeats = used[op + "." + name]++;
  return repeats == 0 ? name : str(name, "_", repeats + 1);
}

}  // namespace

void run_op_case(const std::string& op, const OpCase& c) {
  for (DType dtype : c.dtypes) {
    try {
      CaseRunner(op, c, dtype).run();
    } catch (const Error& error) {
      ADD_FAILURE() << op << ", row '" << c.label << "', " << to_string(dtype) << ": " << error.what();
    }
  }
  check_gradient(op, c);
}

void expect_refused(const std::function<void()>& build, const std::vector<std::string>& parts, const char* file) {
  GraphScope scope;
  std::string text;
  try {
    build();
  } catch (const Error& error) {
    text = error.what();
  }
  ASSERT_FALSE(text.empty()) << "nothing was refused";
  for (const std::string& part : parts) EXPECT_PRED_FORMAT2(::testing::IsSubstring, part, text);
  const std::string_view path = file;
  const std::string place = str(path.substr(path.rfind('/') + 1), ":");
  const size_t found = text.find(place);
  const size_t digit = found + place.size();
  const bool has_line =
      found != std::string::npos && digit < text.size() && std::isdigit(static_cast<unsigned char>(text[digit]));
  EXPECT_TRUE(has_line) << "the error does not show the user's line, " << place << "N:\n" << text;
}

std::map<std::string, size_t> tested_ops() { return row_counts(); }

OpTestRows::OpTestRows(const char* op, const char* file, int line, std::vector<OpCase> rows) {
  row_counts()[op] += rows.size();
  for (OpCase& row : rows) {
    const std::string name = test_name(op, row.label);
    ::testing::RegisterTest(
        op, name.c_str(), nullptr, nullptr, file, line,
        [op = std::string(op), row = std::move(row)]() -> ::testing::Test* { return new RowTest(op, row); });
  }
}

}  // namespace martello::testing
