// Runs the built command.
#include <martello/base/internal/test_dir.h>
#include <martello/base/internal/test_text.h>
#include <martello/base/utf8.h>
#include <martello/callbacks/monitors/stats_file.h>
#include <martello/codec/npz.h>
#include <martello/codec/safetensors.h>
#include <martello/graph/core_ops.h>
#include <martello/graph/scopes.h>
#include <martello/martello.h>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <nlohmann/json.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>

namespace martello {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

struct Outcome {
  int code = -1;
  std::string out, err;
  Json json() const { return Json::parse(out); }
};

struct CommandTest : ::testing::Test {
  std::string file(const std::string& name) const { return folder.file(name); }
  std::string read(const std::string& name) const { return folder.read(name); }
  void write(const std::string& name, const std::string& text) const { folder.write(name, text); }
  // In the test's directory.
  Outcome run(const std::string& arguments) const {
    const std::string line = str("cd '", folder.path(), "' && '", MARTELLO_COMMAND, "' ", arguments, " >out 2>err");
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read("out"), read("err")};
  }
  void expect_refusal(const std::string& arguments, const std::string& part) const {
    const Outcome o = run(arguments);
    EXPECT_EQ(o.code, 2) << arguments << "\n" << o.out;
    EXPECT_CONTAINS(o.err, part);
  }
  void write_model(const std::string& name, double factor = 1) const {
    HostTensor w = weights;
    for (float& v : w.mutable_data<float>()) v = static_cast<float>(v * factor);
    write_safetensors(file(name),
                      {{"fc/W", w}, {"fc/b", HostTensor({3}, f32)}, {"global_step", HostTensor(int64_t{7})}},
                      {{"epoch_num", "2"}});
  }
  // A small frozen model.
  void write_frozen(const std::string& name) const {
    ModelExporter({.tower_func = [](Tensor x) { return softmax(fully_connected("fc", x, {.units = 10}), "prob"); },
                   .input_signature = {{{kUnknown, 784}, f32, "image"}},
                   .output_names = {"prob"},
                   .session_init = SmartInit(ValueMap{{"fc/W", HostTensor({784, 10}, f32)}})})
        .export_compact(file(name));
  }

  const testing::TestDir folder;
  const HostTensor weights = HostTensor::of<float>({1, -2, 3, 4.5, 0, 6}, {2, 3});
};

TEST_F(CommandTest, tells_what_it_can_do) {
  const Outcome o = run("--help");
  EXPECT_EQ(o.code, 0);
  for (const char* name : {"ls", "show", "diff", "verify", "convert", "graph", "plan", "runs diff", "plot"}) {
    EXPECT_CONTAINS(o.out, name);
    const Outcome one = run(str(name, " --help"));
    EXPECT_EQ(one.code, 0) << name;
    for (const char* part : {"usage: martello ", "--json", "exit codes", "  2  wrong use"})
      EXPECT_CONTAINS(one.out, part);
  }
  EXPECT_CONTAINS(run("--version").out, "martello 0.");
}

TEST_F(CommandTest, is_described_by_its_page) {
  std::ifstream in(MARTELLO_COMMAND_PAGE);
  const std::string page{std::istreambuf_iterator<char>(in), {}};
  for (const char* name : {"", "ls", "show", "diff", "verify", "convert", "graph", "plan", "runs diff", "plot"})
    EXPECT_NE(page.find(str("```text\n", run(str(name, " --help")).out, "```\n")), std::string::npos)
        << "docs/command.md does not show what `martello " << name << " --help` prints";
}

TEST_F(CommandTest, refuses_wrong_use) {
  EXPECT_EQ(run("").code, 2);
  expect_refusal("shwo x", "Did you mean 'show'");
  expect_refusal("runs", "no command 'runs'");
  expect_refusal("ls", "not 0 operands");
  expect_refusal("diff a", "it takes A B");
  expect_refusal("ls --al x", "Did you mean '--all'");
  expect_refusal("show --values", "--values needs a value: N");
  expect_refusal("ls --all=1 .", "takes no value");
  expect_refusal("ls nowhere", "there is no file or directory 'nowhere'");
  write_model("m.safetensors");
  expect_refusal("show m.safetensors fc/W --values x", "no whole number");
  for (const char* arguments : {"ls nowhere --json", "nowhere --json", "--json nowhere"}) {
    const Outcome o = run(arguments);
    EXPECT_EQ(o.code, 2) << arguments;
    EXPECT_TRUE(o.json().contains("error")) << o.out;
  }
}

TEST_F(CommandTest, ls_lists_tensors_and_checkpoints) {
  write_model("model-10.safetensors");
  write_model("model-9.safetensors");
  write("model-11.safetensors", "damaged");
  write("other.txt", "x");
  Outcome o = run("ls model-9.safetensors");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_CONTAINS(o.out, "fc/W         f32[2, 3]  24 B\n");
  EXPECT_CONTAINS(o.out, "3 tensors, 10 numbers");
  EXPECT_EQ(run("ls model-9.safetensors --json").json()["tensors"][0]["shape"], Json({2, 3}));
  o = run("ls . --json");
  EXPECT_EQ(o.code, 1) << "one cannot be read";
  const Json rows = o.json()["checkpoints"];
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0]["step"], 9);
  EXPECT_EQ(rows[1]["parameters"], 10);
  EXPECT_TRUE(rows[2].contains("error"));
  EXPECT_CONTAINS(run("ls .").out, "unreadable");
  EXPECT_CONTAINS(run("ls .").out, "epoch 2");
}

// JSON holds UTF-8 only; names and texts of files and arguments may be any bytes.
TEST_F(CommandTest, json_has_an_answer_for_names_that_are_no_utf8) {
  const auto write_damaged = [&](const std::string& name) {
    const std::string header = "{\"\xff\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}";
    const auto length = static_cast<uint64_t>(header.size());
    write(name, std::string(reinterpret_cast<const char*>(&length), sizeof length) + header + std::string(4, '\0'));
  };
  for (const char* of : {"ls \"$(printf 'no\\377file')\"", "ls a.npz", "ls a.safetensors"}) {
    std::string npz = encode_npz({{"\xff", 1.0f}});
    npz[npz.find("NUMPY") + 30] ^= 1;
    write("a.npz", npz);
    write_damaged("a.safetensors");
    const Outcome o = run(str(of, " --json"));
    EXPECT_EQ(o.code, 2) << of;
    EXPECT_TRUE(o.json().contains("error")) << of;
  }
  write("b.npz", encode_npz({{"\xff", 1.0f}}));
  EXPECT_EQ(run("ls b.npz --json").json()["tensors"][0]["name"], "\xef\xbf\xbd");
  fs::create_directory(file("dir"));
  write_model("dir/model-1.safetensors");
  write_damaged("dir/model-2.safetensors");
  for (const auto& [command, rows] : {std::pair("ls", "checkpoints"), std::pair("verify", "files")}) {
    const Outcome o = run(str(command, " dir --json"));
    EXPECT_EQ(o.code, 1) << command;
    EXPECT_EQ(o.json()[rows].size(), 2u) << command;
  }
}

TEST_F(CommandTest, ls_keeps_texts_of_several_lines_in_their_row) {
  write_safetensors(
      file("model-1.safetensors"), {{"w", HostTensor(1.f)}},
      {{"epoch_num", "1"}, {"end", "crash: no memory\n  in 'fc'"}, {"best", "a=1 min 1 best\nb=2 max 1 good"}});
  EXPECT_CONTAINS(run("ls .").out, "epoch 1, crash: no memory, in 'fc', a=1 min 1 best, b=2 max 1 good\n");
}

TEST_F(CommandTest, show_tells_statistics_and_values) {
  write_model("m.safetensors");
  Outcome o = run("show m.safetensors");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_CONTAINS(o.out, "epoch_num");
  const Json w = run("show m.safetensors --json").json()["tensors"]["fc/W"];
  EXPECT_EQ(w["min"], -2);
  EXPECT_EQ(w["max"], 6);
  EXPECT_NEAR(w["mean"].get<double>(), 12.5 / 6, 1e-6);
  o = run("show m.safetensors fc/W --values 2");
  EXPECT_CONTAINS(o.out, "  1 -2 ...");
  expect_refusal("show m.safetensors fc/V", "'fc/W'");
}

TEST_F(CommandTest, diff_finds_what_differs) {
  write_model("a.safetensors");
  write_model("b.safetensors", 1.001);
  Outcome o = run("diff a.safetensors a.safetensors");
  EXPECT_EQ(o.code, 0);
  EXPECT_CONTAINS(o.out, "0 of 3 tensors differ");
  o = run("diff a.safetensors b.safetensors");
  EXPECT_EQ(o.code, 1);
  EXPECT_CONTAINS(o.out, "5 of 6 numbers, by 0.006");
  EXPECT_EQ(run("diff a.safetensors b.safetensors --tolerance 0.01").code, 0);
  EXPECT_EQ(run("diff a.safetensors b.safetensors --only fc/b").code, 0);
  write_safetensors(file("c.safetensors"), {{"fc/W", HostTensor({6}, f32)}, {"new", HostTensor(1.f)}});
  const Json d = run("diff a.safetensors c.safetensors --json").json()["differences"];
  EXPECT_EQ(d["fc/W"]["b"], "f32[6]");
  EXPECT_EQ(d["fc/b"]["kind"], "only in A");
  EXPECT_EQ(d["new"]["kind"], "only in B");
}

TEST_F(CommandTest, convert_goes_both_ways) {
  write_model("a.safetensors");
  EXPECT_EQ(run("convert a.safetensors b.npz").code, 0);
  EXPECT_TRUE(read_npz(file("b.npz"))[0].second.same_bits(weights));
  EXPECT_EQ(run("convert b.npz c.safetensors").code, 0);
  EXPECT_EQ(run("diff a.safetensors c.safetensors").code, 0);
  EXPECT_EQ(run("diff a.safetensors b.npz").code, 0) << "formats do not matter";
  EXPECT_EQ(run("convert a.safetensors d.npz --keep ^fc --drop b$").code, 0);
  EXPECT_EQ(read_npz(file("d.npz")).size(), 1u);
  expect_refusal("convert a.safetensors ./a.safetensors", "are one file");
  expect_refusal("convert a.safetensors d.npy", "its format is not known");
  expect_refusal("convert a.safetensors d.npz --keep nothing", "nothing of the 3 tensors");
  expect_refusal("convert a.safetensors d.npz --keep '['", "convert --keep");
  expect_refusal("convert a.safetensors no/such/dir/d.npz", "no/such/dir");
  expect_refusal("convert missing.npz d.npz", "no such file");
}

TEST_F(CommandTest, verify_finds_damage) {
  write_model("model-1.safetensors");
  EXPECT_EQ(run("convert model-1.safetensors x.npz").code, 0);
  write_frozen("frozen.safetensors");
  Outcome o = run("verify model-1.safetensors x.npz frozen.safetensors");
  EXPECT_EQ(o.code, 0) << o.out;
  EXPECT_CONTAINS(o.out, "graph of a frozen model");
  std::string npz = read("x.npz");
  npz[200] = static_cast<char>(npz[200] ^ 1);
  write("x.npz", npz);
  write("cut.safetensors", read("model-1.safetensors").substr(0, 90));
  o = run("verify . x.npz cut.safetensors --json");
  EXPECT_EQ(o.code, 1);
  const Json files = o.json()["files"];
  EXPECT_EQ(files[0]["sound"], true);
  EXPECT_EQ(files[1]["sound"], false);
  EXPECT_EQ(files[2]["sound"], false);
  write_safetensors(file("lie.safetensors"), {}, {{"martello.graph", "martello graph 1\n%x = nothing()\n"}});
  EXPECT_EQ(run("verify lie.safetensors").code, 1);
}

TEST_F(CommandTest, graph_prints_and_draws) {
  write_frozen("net.safetensors");
  const Outcome text = run("graph net.safetensors");
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_EQ(parse_graph(text.out).text(), text.out) << "it can be read again";
  write("net.txt", text.out);
  EXPECT_CONTAINS(run("graph net.txt --format dot").out, "digraph");
  EXPECT_EQ(run("graph net.txt --out net.svg").code, 0);
  const std::string svg = read("net.svg");
  for (const char* part : {"<svg", "image", "prob", "softmax f32[?, 10]", "</svg>"}) EXPECT_CONTAINS(svg, part);
  std::string name;  // of more letters than a box has, cut between the two bytes of one
  for (int i = 0; i < 30; ++i) name += "\xc3\xbc";
  write("long.txt", "martello graph 1\n%\"" + name + "x\" = placeholder() {shape=[2]}\n");
  EXPECT_TRUE(is_utf8(run("graph long.txt --format svg").out));
  const Json json = run("graph net.txt --json").json();
  EXPECT_EQ(json["ops"]["softmax"], 1);
  expect_refusal("graph net.txt --format png", "text, dot or svg");
  write_model("m.safetensors");
  expect_refusal("graph m.safetensors", "has no graph");
  write("bad.txt", "martello graph 1\n%x = conv3d()\n");
  expect_refusal("graph bad.txt", "bad.txt");
  write("empty.txt", "");
  expect_refusal("graph empty.txt", "is empty");
}

TEST_F(CommandTest, plan_tells_memory) {
  write_frozen("net.safetensors");
  const Outcome o = run("plan net.safetensors --batch 64");
  EXPECT_EQ(o.code, 0) << o.err;
  const Json one = run("plan net.safetensors --json").json(),
             many = run("plan net.safetensors --batch 64 --json").json();
  EXPECT_GT(many["devices"][0]["arena_bytes"], one["devices"][0]["arena_bytes"]);
  EXPECT_EQ(many["devices"][0]["variable_bytes"].get<int64_t>(), 784 * 10 * 4);
  EXPECT_GT(many["implementations"].size(), 0u);
  EXPECT_EQ(run("plan net.safetensors --feed image=8x784 --fetch prob").code, 0);
  const Json huge = run("plan net.safetensors --batch 1073741824 --json").json();
  EXPECT_GT(huge["devices"][0]["arena_bytes"], int64_t{1} << 35) << "of the outputs; inputs are not made to plan";
  expect_refusal("plan net.safetensors --feed image=8x78", "[8, 78]");
  expect_refusal("plan net.safetensors --feed imag=8x784", "image");
  expect_refusal("plan net.safetensors --feed image=8xa", "is no size");
  expect_refusal("plan net.safetensors --fetch prop", "prob");
  expect_refusal("plan net.safetensors --batch 0", "between 1 and");
}

TEST_F(CommandTest, plot_draws_statistics) {
  fs::create_directory(file("run"));
  std::string rows;
  for (int e = 1; e <= 4; ++e) rows += stats_line({e, e * 10, {{"loss", 1.0 / e}, {"lr", 0.1}}, {}}) + "\n";
  write("run/stats.jsonl", rows);
  EXPECT_EQ(run("plot run").code, 0);
  EXPECT_TRUE(read("run/stats.png").starts_with("\x89PNG"));
  EXPECT_EQ(run("plot run/stats.jsonl --out x.svg --panel rate=lr --title T --width 400 --height 300").code, 0);
  EXPECT_CONTAINS(read("x.svg"), "<svg");
  expect_refusal("plot run --out x.jpg", ".png or .svg");
  expect_refusal("plot run --panel lr", "TITLE=REGEX");
  expect_refusal("plot run --panel x=nothing", "belongs to a panel");
  expect_refusal("plot run --width 10", "between 200");
  expect_refusal("plot nowhere", "nowhere");
}

// Two trainings that differ in their rate of learning, which is part of their graphs.
TEST_F(CommandTest, reads_checkpoints_of_runs) {
  for (const double rate : {0.1, 0.2}) {
    SimpleTrainer trainer;
    trainer.setup_graph(
        {{{4}, f32, "x"}}, QueueInput(data::fake({{{4}, f32, "x"}}, 8)),
        [](Tensor x) { return reduce_mean(square(x - get_variable("mean", {.shape = {4}}))); },
        [rate] { return GradientDescent(rate); });
    const TrainEnd end = trainer.train(
        {.callbacks = {ModelSaver({.dir = file(rate < 0.15 ? "a" : "b")})}, .steps_per_epoch = 3, .max_epoch = 2});
    ASSERT_TRUE(end.is_success()) << end.message;
  }
  const Outcome ls = run("ls a");
  EXPECT_EQ(ls.code, 0) << ls.err;
  EXPECT_CONTAINS(ls.out, "epoch 2");
  EXPECT_EQ(run("verify a b").code, 0);
  const Outcome graph = run("graph a/model-6.safetensors");
  EXPECT_EQ(graph.code, 0) << graph.err;
  EXPECT_CONTAINS(graph.out, "%mean = variable");
  const Outcome o = run("runs diff a b");
  EXPECT_EQ(o.code, 1) << o.err;
  EXPECT_CONTAINS(o.out, "graph: differs");
  EXPECT_CONTAINS(o.out, "variables differ at step 3");
  EXPECT_EQ(run("runs diff a a").code, 0);
  std::string bytes = read("a/model-6.safetensors");
  bytes[bytes.size() - 1] = static_cast<char>(bytes[bytes.size() - 1] ^ 4);
  write("a/model-6.safetensors", bytes);
  EXPECT_EQ(run("verify a").code, 1);
}

TEST_F(CommandTest, runs_diff_finds_the_first_step) {
  for (const char* run_dir : {"a", "b"}) {
    fs::create_directory(file(run_dir));
    const bool is_b = run_dir[0] == 'b';
    std::string rows;
    for (int s = 1; s <= (is_b ? 5 : 4); ++s)
      rows += stats_line({1, s * 10, {{"loss", s == 3 && is_b ? 0.25 : 1.0 / s}}, {{"speed", is_b ? 1. : 2.}}}) + "\n";
    write(str(run_dir, "/stats.jsonl"), rows);
    write_model(str(run_dir, "/model-10.safetensors"));
    write_model(str(run_dir, "/model-30.safetensors"), is_b ? 2 : 1);
  }
  const Outcome o = run("runs diff a b");
  EXPECT_EQ(o.code, 1) << o.err;
  EXPECT_CONTAINS(o.out, "differ first at step 30");
  EXPECT_CONTAINS(o.out, "0.25 in B");
  EXPECT_CONTAINS(o.out, "1 variables differ at step 30, 'fc/W'");
  EXPECT_TRUE(run("runs diff a b --json").json()["parts"].is_null()) << "no checkpoint of a run tells them";
  EXPECT_EQ(run("runs diff a b --json").json()["statistics"]["first_difference"]["step"], 30);
  EXPECT_EQ(run("runs diff a a").code, 0);
  expect_refusal("runs diff a nowhere", "no directory of a run");
  fs::create_directory(file("empty"));
  expect_refusal("runs diff a empty", "'empty' holds no run");
  expect_refusal("runs diff empty empty", "'empty' holds no run");
}

}  // namespace
}  // namespace martello
