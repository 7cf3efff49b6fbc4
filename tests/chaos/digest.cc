#include "digest.h"

#include <martello/base/strings.h>
#include <martello/callbacks/monitors/stats_file.h>
#include <martello/codec/crc32c.h>
#include <martello/codec/internal/read_events.h>
#include <martello/graph/collections.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace chaos {
namespace {

using martello::str;

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_variables(std::ostream& out, martello::Trainer& trainer) {
  const auto& lists = trainer.graph().collections();
  for (const auto key : {martello::kGlobalVariables, martello::kLocalVariables})
    for (const martello::Variable& v : lists.get(key)) {
      const martello::HostTensor t = trainer.sess().get(v.handle());
      const std::string_view bytes(reinterpret_cast<const char*>(t.raw()), static_cast<size_t>(t.num_bytes()));
      out << str(v.handle().name(), " ", martello::crc32c(bytes), " ", t.str(), "\n");
    }
}

void write_stats(std::ostream& out, const std::string& dir) {
  for (const martello::StatsRow& row : martello::load_stats(dir + "/stats.jsonl"))
    if (!row.scalars.empty()) out << martello::stats_line({row.epoch_num, row.global_step, row.scalars, {}}) << "\n";
  for (const std::string& line : martello::split(read(dir + "/stats.csv"), '\n'))
    if (line.find(",volatile,") == std::string::npos) out << line << "\n";
}

// In the order of the files' names, as TensorBoard reads them.
void write_events(std::ostream& out, const std::string& dir) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(dir))
    if (entry.path().filename().string().starts_with("events.out.tfevents.")) paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths)
    for (const auto& s : martello::testing::read_scalars(read(path)))
      if (!s.tag.starts_with("time/") && !s.tag.ends_with("queue_size") && s.tag != "failed_saves")
        out << str("event ", s.step, " ", s.tag, " ", double(s.value), "\n");
}

}  // namespace

void write_digest(const std::string& dir, martello::Trainer& trainer, const std::vector<int64_t>& ids) {
  std::ofstream out(dir + "/digest.txt");
  write_variables(out, trainer);
  for (const int64_t id : ids) out << id << " ";
  out << "\n";
  write_stats(out, dir);
  write_events(out, dir);
}

}  // namespace chaos
