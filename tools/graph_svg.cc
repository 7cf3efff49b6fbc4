#include "graph_svg.h"

#include "command.h"

#include <martello/base/utf8.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/node.h>

#include <algorithm>
#include <unordered_map>

namespace martello::tools {
namespace {

constexpr double kLetter = 6.6, kBoxHeight = 38, kRowHeight = 74, kGap = 18, kMargin = 20;
constexpr size_t kMostLetters = 40;

struct Box {
  const OpNode* node = nullptr;
  std::string name, what;
  int row = 0;
  double x = 0, width = 0;  // x of its middle
};

std::string shortened(std::string text) {
  return text.size() <= kMostLetters ? text : "..." + text.substr(text.size() - kMostLetters + 3);
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : as_utf8(text)) {
    if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '&') out += "&amp;";
    else if (c == '"') out += "&quot;";
    else if (static_cast<unsigned char>(c) < 0x20) out += ' ';
    else out += c;
  }
  return out;
}

class Drawing {
 public:
  explicit Drawing(const Graph& graph) {
    for (const OpNode* node : topological_order(graph.impl())) {
      index_[node] = boxes_.size();
      const std::string outputs = node->outputs.empty() ? "" : str(" ", node->outputs[0].spec());
      boxes_.push_back({node, shortened(node->name), shortened(node->def->name + outputs)});
      boxes_.back().width =
          kLetter * static_cast<double>(std::max(boxes_.back().name.size(), boxes_.back().what.size())) + 16;
    }
    choose_rows();
    place();
  }
  std::string svg() const;

 private:
  // Below all inputs; what has none stands right above its first user.
  void choose_rows() {
    std::vector<int> first_user(boxes_.size(), -1);
    for (Box& b : boxes_)
      for (const Tensor& t : b.node->inputs) b.row = std::max(b.row, boxes_[index_.at(t.node())].row + 1);
    for (const Box& b : boxes_)
      for (const Tensor& t : b.node->inputs) {
        int& first = first_user[index_.at(t.node())];
        first = first < 0 ? b.row : std::min(first, b.row);
      }
    for (size_t i = 0; i < boxes_.size(); ++i)
      if (boxes_[i].node->inputs.empty() && first_user[i] > 0) boxes_[i].row = first_user[i] - 1;
    for (size_t i = 0; i < boxes_.size(); ++i) {
      rows_.resize(std::max(rows_.size(), static_cast<size_t>(boxes_[i].row) + 1));
      rows_[static_cast<size_t>(boxes_[i].row)].push_back(i);
    }
  }

  // In each row in the order of where the neighbours are, a few times down and up.
  void place() {
    constexpr int kSweeps = 4;
    for (auto& row : rows_) line_up(row);
    std::vector<std::vector<size_t>> users(boxes_.size());
    for (size_t i = 0; i < boxes_.size(); ++i)
      for (const Tensor& t : boxes_[i].node->inputs) users[index_.at(t.node())].push_back(i);
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      for (auto& row : rows_) sort_row(row, [&](size_t i) { return middle_of_inputs(i); });
      for (size_t r = rows_.size(); r-- > 0;) sort_row(rows_[r], [&](size_t i) { return middle_of(users[i], i); });
    }
    double left = 0;
    for (const Box& b : boxes_) left = std::min(left, b.x - b.width / 2);
    for (Box& b : boxes_) {
      b.x += kMargin - left;
      width_ = std::max(width_, b.x + b.width / 2 + kMargin);
    }
  }

  double middle_of_inputs(size_t i) const {
    std::vector<size_t> inputs;
    for (const Tensor& t : boxes_[i].node->inputs) inputs.push_back(index_.at(t.node()));
    return middle_of(inputs, i);
  }
  double middle_of(const std::vector<size_t>& neighbours, size_t self) const {
    if (neighbours.empty()) return boxes_[self].x;
    double sum = 0;
    for (const size_t n : neighbours) sum += boxes_[n].x;
    return sum / static_cast<double>(neighbours.size());
  }
  template <class F>
  void sort_row(std::vector<size_t>& row, F&& wish) {
    std::vector<std::pair<double, size_t>> order;
    for (const size_t i : row) order.emplace_back(wish(i), i);
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (size_t i = 0; i < row.size(); ++i) row[i] = order[i].second;
    line_up(row);
  }
  // Side by side around 0.
  void line_up(const std::vector<size_t>& row) {
    double total = -kGap;
    for (const size_t i : row) total += boxes_[i].width + kGap;
    double x = -total / 2;
    for (const size_t i : row) {
      boxes_[i].x = x + boxes_[i].width / 2;
      x += boxes_[i].width + kGap;
    }
  }
  static double top_of(const Box& b) { return kMargin + b.row * kRowHeight; }

  std::vector<Box> boxes_;
  std::unordered_map<const OpNode*, size_t> index_;
  std::vector<std::vector<size_t>> rows_;
  double width_ = 0;
};

const char* color_of(const OpNode& node) {
  if (node.def->effect == Effect::feed) return "#cfe8fc";
  if (node.def->effect == Effect::variable) return "#fde3c8";
  if (node.def == &op_constant) return "#eeeeee";
  return "#ffffff";
}

std::string Drawing::svg() const {
  const double height = 2 * kMargin + static_cast<double>(rows_.size()) * kRowHeight - (kRowHeight - kBoxHeight);
  std::string out = str("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", width_, "\" height=\"", height,
                        "\" font-family=\"monospace\" font-size=\"11\">\n",
                        "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
  for (const Box& b : boxes_)
    for (const Tensor& t : b.node->inputs) {
      const Box& from = boxes_[index_.at(t.node())];
      const double y0 = top_of(from) + kBoxHeight, y1 = top_of(b), middle = (y0 + y1) / 2;
      out += str("<path d=\"M ", from.x, " ", y0, " C ", from.x, " ", middle, " ", b.x, " ", middle, " ", b.x, " ", y1,
                 "\" fill=\"none\" stroke=\"#888888\"/>\n");
    }
  for (const Box& b : boxes_) {
    out += str("<rect x=\"", b.x - b.width / 2, "\" y=\"", top_of(b), "\" width=\"", b.width, "\" height=\"",
               kBoxHeight, "\" rx=\"5\" fill=\"", color_of(*b.node), "\" stroke=\"#444444\"/>\n");
    out +=
        str("<text x=\"", b.x, "\" y=\"", top_of(b) + 16, "\" text-anchor=\"middle\">", escaped(b.name), "</text>\n");
    out += str("<text x=\"", b.x, "\" y=\"", top_of(b) + 31, "\" text-anchor=\"middle\" fill=\"#555555\">",
               escaped(b.what), "</text>\n");
  }
  return out + "</svg>\n";
}

}  // namespace

std::string graph_svg(const Graph& graph) {
  MARTELLO_CHECK(graph.size() <= kMostDrawnNodes, "a picture of ", graph.size(), " nodes cannot be read; at most ",
                 kMostDrawnNodes, " are drawn. Use --format dot and a viewer that zooms.");
  return Drawing(graph).svg();
}

}  // namespace martello::tools
