// How far a model's time composed of its bricks' is from the whole, by how it is cut:
//
//   benchmarks bricks [--cut "--block 8"]... MODEL[:NAME=N,...]...
//
// For each model and cut `infimum measure --by-bricks`, which measures the whole beside the bricks; then of each cut
// the median and the worst of the errors without their signs. Exits with 1 where the default's median is beyond 5 %, or
// its worst beyond 15 %, or a brick has no time.
//
// By hand and on a machine that does nothing else: the times are real.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/app/commands/model_arguments.h"
#include "tests/app/commands/program.h"
#include "tests/support/benchmark.h"

namespace infimum::testing::bricks_benchmark {
namespace {

constexpr double kMostInTheMiddle = 0.05, kMostAtWorst = 0.15;

struct CutErrors {
  std::string options;  // empty: the default
  std::vector<double> errors = {};
};

bool Measure(const std::string& model, CutErrors& cut) {
  const ProgramTest program;
  std::vector<std::string> arguments = ModelArguments(model);
  const std::string name = std::filesystem::path(arguments[0]).stem().string();
  arguments.insert(arguments.begin(), "measure");
  arguments.insert(arguments.end(), {"--by-bricks", "--db", "bricks.db", "-o", "-"});
  std::istringstream words(cut.options);
  for (std::string word; words >> word;) arguments.push_back(word);
  const Ended ended = program.Infimum(arguments);
  const nlohmann::json json = nlohmann::json::parse(ended.output, nullptr, false);
  if (ended.exit_code != 0 || !json.is_object() || json.at("error").is_null()) {
    fmt::print("{} {}: {}\n", name, cut.options, ended.errors);
    return false;
  }
  const double error = json.at("error");
  fmt::print("{:24} {:12} {:3} bricks, {:9.2f} ms composed, {:9.2f} ms whole, {:+6.1f} %{}\n", name,
             cut.options.empty() ? "default" : cut.options, json.at("bricks").size(),
             json.at("total_us").get<double>() / 1000, json.at("whole_us").get<double>() / 1000, 100 * error,
             json.at("missing") == 0 ? "" : fmt::format(", {} WITHOUT A TIME", json.at("missing").dump()));
  std::fflush(stdout);
  cut.errors.push_back(std::abs(error));
  return json.at("missing") == 0;
}

}  // namespace
}  // namespace infimum::testing::bricks_benchmark

INFIMUM_BENCHMARK(bricks, "[--cut OPTIONS]... MODEL[:NAME=N,...]...") {
  using infimum::testing::bricks_benchmark::CutErrors;
  std::vector<CutErrors> cuts{{""}};
  int first = 1;
  for (; first + 1 < argc && std::string(argv[first]) == "--cut"; first += 2) cuts.push_back({argv[first + 1]});
  if (first >= argc) return 2;
  bool all = true;
  for (int i = first; i < argc; ++i)
    for (CutErrors& cut : cuts) all = infimum::testing::bricks_benchmark::Measure(argv[i], cut) && all;
  for (CutErrors& cut : cuts) {
    if (cut.errors.empty()) continue;
    std::sort(cut.errors.begin(), cut.errors.end());
    const double middle = cut.errors[cut.errors.size() / 2], worst = cut.errors.back();
    fmt::print("{:12} median {:.1f} %, worst {:.1f} % of {} models\n", cut.options.empty() ? "default" : cut.options,
               100 * middle, 100 * worst, cut.errors.size());
    using namespace infimum::testing::bricks_benchmark;
    if (cut.options.empty()) all = all && middle <= kMostInTheMiddle && worst <= kMostAtWorst;
  }
  return all ? 0 : 1;
}
