#include <martello/base/append_file.h>
#include <martello/base/internal/test_dir.h>
#include <martello/base/internal/test_text.h>
#include <martello/callbacks/monitors/internal/chart.h>
#include <martello/callbacks/monitors/plot.h>
#include <martello/callbacks/monitors/stats_file.h>

#include <cairo.h>

#include <cmath>

namespace martello {
namespace {

using internal::Scale;
using testing::error_of;
using testing::TestDir;

struct Picture {
  int width = 0, height = 0;
  int colored = 0;  // pixels that are no grey: curves
};

// By cairo's own reader.
Picture look_at(const std::string& path) {
  cairo_surface_t* surface = cairo_image_surface_create_from_png(path.c_str());
  EXPECT_EQ(cairo_surface_status(surface), CAIRO_STATUS_SUCCESS);
  Picture p = {cairo_image_surface_get_width(surface), cairo_image_surface_get_height(surface)};
  for (int y = 0; y < p.height; ++y) {
    const unsigned char* row =
        cairo_image_surface_get_data(surface) + int64_t{y} * cairo_image_surface_get_stride(surface);
    for (int x = 0; x < p.width; ++x) p.colored += std::abs(row[int64_t{4} * x] - row[int64_t{4} * x + 2]) > 60;
  }
  cairo_surface_destroy(surface);
  return p;
}

struct PlotTest : ::testing::Test {
  TestDir dir;
  void write_epochs(int count) {
    std::string text;
    for (int e = 1; e <= count; ++e) {
      const double x = 1.0 / e;
      text += stats_line({e,
                          int64_t{e} * 469,
                          {{"cross_entropy_loss", 0.6 * x + 0.05},
                           {"train_error", 0.2 * x},
                           {"validation_error", 0.15 * x + 0.06},
                           {"learning_rate", 1e-3}},
                          {{"Throughput (samples/sec)", 1e4}}}) +
              "\n";
    }
    dir.write("stats.jsonl", text);
  }
};

TEST_F(PlotTest, draws_a_panel_of_losses_and_one_of_errors) {
  write_epochs(10);
  plot_stats(dir.file("stats.jsonl"), dir.file("stats.png"), {.title = "Fashion-MNIST convnet"});
  const Picture p = look_at(dir.file("stats.png"));
  EXPECT_EQ(p.width, 1920);
  EXPECT_EQ(p.height, 2 * (44 + 2 * 360));
  EXPECT_GT(p.colored, 5000);
  if (const char* keep = getenv("MARTELLO_KEEP_PLOT"))
    std::filesystem::copy_file(dir.file("stats.png"), keep, std::filesystem::copy_options::overwrite_existing);
}

TEST_F(PlotTest, panels_are_chosen_by_names) {
  write_epochs(3);
  plot_stats(dir.file("stats.jsonl"), dir.file("lr.png"), {.panels = {{"lr", "learning"}, {"none", "nowhere"}}});
  EXPECT_EQ(look_at(dir.file("lr.png")).height, 2 * (44 + 360));
  const std::string text = error_of([&] {
    plot_stats(dir.file("stats.jsonl"), dir.file("x.png"), {.panels = {{"none", "nowhere"}}});
  });
  EXPECT_CONTAINS(text, "belongs to a panel; there are cross_entropy_loss, learning_rate");
}

TEST_F(PlotTest, gaps_single_points_and_steps_are_drawn) {
  std::string text;
  for (int step = 1; step <= 20000; ++step) {
    const double loss = step % 1000 == 0 ? std::nan("") : 100.0 / step;
    text += stats_line({1 + step / 5000, step, {{"loss", loss}}, {}}) + "\n";
  }
  text += stats_line({5, 20000, {{"error", std::numeric_limits<double>::infinity()}, {"error2", 3}}, {}}) + "\n";
  dir.write("stats.jsonl", text);
  plot_stats(dir.file("stats.jsonl"), dir.file("stats.png"));
  EXPECT_GT(look_at(dir.file("stats.png")).colored, 2000);
  if (const char* keep = getenv("MARTELLO_KEEP_PLOT"))
    std::filesystem::copy_file(dir.file("stats.png"), str(keep, ".steps.png"),
                               std::filesystem::copy_options::overwrite_existing);
}

TEST_F(PlotTest, svg_is_text) {
  write_epochs(3);
  plot_stats(dir.file("stats.jsonl"), dir.file("stats.svg"));
  EXPECT_CONTAINS(dir.read("stats.svg"), "<svg");
}

TEST_F(PlotTest, what_cannot_be_drawn_or_written_is_named) {
  EXPECT_THROW(plot_stats(dir.file("missing"), dir.file("x.png")), NotFound);
  dir.write("stats.jsonl", "");
  EXPECT_CONTAINS(error_of([&] { plot_stats(dir.file("stats.jsonl"), dir.file("x.png")); }), "has no scalars");
  write_epochs(3);
  EXPECT_CONTAINS(error_of<FileError>([&] { plot_stats(dir.file("stats.jsonl"), dir.file("no/x.png")); }), "no/x.png");
  EXPECT_CONTAINS(error_of<FileError>([&] { plot_stats(dir.file("stats.jsonl"), "/dev/full"); }), "/dev/full");
  EXPECT_CONTAINS(error_of([&] { plot_stats(dir.file("stats.jsonl"), "x.png", {.width = 10}); }), "10 x 360");
}

TEST(scale, ticks_are_round_numbers_around_the_values) {
  EXPECT_EQ(Scale({0.3, 9.7}, false, 5).ticks(), (std::vector<double>{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(Scale({1, 10}, false, 12).ticks().size(), 10u);
  const Scale same({3, 3}, false, 5);
  EXPECT_LT(same.ticks().front(), 3);
  EXPECT_GT(same.ticks().back(), 3);
  EXPECT_EQ(Scale({-1, 1}, false, 4).label(-1e-17), "0");
}

TEST(scale, goes_from_nought_to_one) {
  const Scale linear({0, 10}, false, 5);
  EXPECT_EQ(linear.at(0), 0);
  EXPECT_EQ(linear.at(10), 1);
  const Scale log({0.01, 100}, true, 5);
  EXPECT_TRUE(log.is_log());
  EXPECT_NEAR(log.at(1), 0.5, 1e-12);
  EXPECT_FALSE(Scale({0, 100}, true, 5).is_log());
}

TEST(scale, values_that_are_not_finite_do_not_count) {
  const Scale s({std::nan(""), 1, 2, std::numeric_limits<double>::infinity()}, false, 5);
  EXPECT_EQ(s.ticks().back(), 2);
  EXPECT_EQ(Scale({}, false, 5).ticks().front(), 0);
  EXPECT_EQ(Scale({std::nan("")}, true, 5).ticks().front(), 0);
}

}  // namespace
}  // namespace martello
