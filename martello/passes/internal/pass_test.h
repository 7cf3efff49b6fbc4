#pragma once
#include <martello/graph/core_ops.h>
#include <martello/graph/internal/graph_text.h>
#include <martello/graph/verify.h>
#include <martello/passes/plan_graph.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

// Passes are tested as text: parse, run, compare.
namespace martello::testing {

using PassFn = bool (*)(PlanGraph&);
using Names = std::vector<std::string>;

// The graph of a text (without its first line) as a plan that fetches these tensors.
inline PlanGraph parse_plan(const std::string& text, const Names& fetches) {
  PlanGraph plan{.graph = parse_graph("martello graph 1\n" + text), .fetches = {}, .targets = {}, .feeds = {}};
  for (const std::string& name : fetches) plan.fetches.push_back(plan.graph.get_tensor(name));
  for (const Operation& op : plan.graph.operations())
    if (op.node()->def == &op_placeholder) plan.feeds.push_back(Tensor(op, 0));
  return plan;
}

// The text and what is fetched.
inline std::string plan_text(const PlanGraph& plan) {
  std::string text;
  const std::string all = internal::graph_text(plan.graph, {.lines = false});
  text = all.substr(all.find('\n') + 1);
  text += "fetch";
  for (const Tensor& t : plan.fetches) text += " " + t.name();
  return text + "\n";
}

inline std::string text_after(PassFn pass, const std::string& text, const Names& fetches) {
  PlanGraph plan = parse_plan(text, fetches);
  pass(plan);
  verify(plan.graph);
  return plan_text(plan);
}

// What `expected` reads as, with its fetches.
inline std::string same_text(const std::string& expected, const Names& fetches) {
  return plan_text(parse_plan(expected, fetches));
}

// For nodes that a pass adds behind their users: a graph's text has the order of creation.
inline std::string sorted_lines(const std::string& text) {
  std::vector<std::string> lines = split(text, '\n');
  std::sort(lines.begin(), lines.end());
  return join(lines, "\n");
}

inline void expect_after(PassFn pass, const std::string& before, const Names& fetches, const std::string& after) {
  EXPECT_EQ(sorted_lines(text_after(pass, before, fetches)), sorted_lines(same_text(after, fetches)));
}
inline void expect_kept(PassFn pass, const std::string& text, const Names& fetches) {
  expect_after(pass, text, fetches, text);
}

}  // namespace martello::testing
