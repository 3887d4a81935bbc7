// What `infimum analyze` promises, held against real runs on this machine: the first answer, the budget, the
// second time, coverage, a floor below the framework's run, and for each layer that the framework runs
// unfused our best candidate against its time.
//
//   benchmarks analysis [--budget 3m] [--all] MODEL[:NAME=N,...]...
//   benchmarks analysis --elementwise        a Relu of eight times the last-level cache: is the floor near?
//
// Each model starts from an empty store. Prints a table for each; exits with 1 where a promise did not hold.
// By hand and on a machine that does nothing else: the times are real.
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/app/commands/model_arguments.h"
#include "tests/app/commands/program.h"
#include "tests/support/benchmark.h"

namespace infimum::testing {
namespace {

using Seconds = std::chrono::duration<double>;
using Json = nlohmann::json;

constexpr double kHoleRatio = 1.1;  // slower than the framework's kernel by more: a hole in our candidates
constexpr std::int64_t kLargestTensor = std::int64_t{1} << 30;

struct Options {
  std::string budget = "3m";
  bool all = false;
  bool elementwise = false;
  std::vector<std::string> models;
};

class Verdicts {
 public:
  // One line of the table; `held` absent where nothing was promised.
  void Add(const std::string& what, const std::string& asked, const std::string& measured, std::optional<bool> held) {
    std::printf("  %-44s %-14s %-22s %s\n", what.c_str(), asked.c_str(), measured.c_str(),
                held ? (*held ? "yes" : "NO") : "");
    all_held_ = all_held_ && held.value_or(true);
  }
  bool all_held() const { return all_held_; }

 private:
  bool all_held_ = true;
};

std::string Text(const char* format, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), format, value);
  return buffer;
}

Seconds Time(const ProgramTest& program, const std::vector<std::string>& arguments, Ended& ended) {
  const auto start = std::chrono::steady_clock::now();
  ended = program.Infimum(arguments);
  return std::chrono::steady_clock::now() - start;
}

// Our best candidate against the framework, for rows of one layer that is not free.
void CompareUnfused(const Json& report, bool all, Verdicts& verdicts) {
  struct Group {
    std::string config, candidate;
    int count = 0;
    double bound = 0, measured = 0;
    double ratio() const { return measured > 0 ? bound / measured : 0; }
  };
  std::map<std::string, Group> groups;
  double compared = 0;
  for (const Json& row : report.at("rows")) {
    if (row.at("bound_us").is_null() || row.at("measured_us").is_null()) continue;
    std::vector<const Json*> busy;
    for (const Json& index : row.at("layers")) {
      const Json& layer = report.at("layers").at(index.get<std::size_t>());
      if (layer.at("status") != "free") busy.push_back(&layer);
    }
    if (busy.size() != 1) continue;
    Group& group = groups[busy.front()->at("config")];
    group.config = busy.front()->at("config");
    group.candidate = busy.front()->at("candidate");
    ++group.count;
    group.bound += row.at("bound_us").get<double>();
    group.measured += row.at("measured_us").get<double>();
    compared += row.at("measured_us").get<double>();
  }
  std::vector<Group> sorted;
  for (const auto& [config, group] : groups) sorted.push_back(group);
  std::sort(sorted.begin(), sorted.end(), [](const Group& a, const Group& b) { return a.ratio() > b.ratio(); });
  const double run = report.at("run").at("latency_us");
  double in_holes = 0;
  for (const Group& group : sorted) in_holes += group.ratio() > kHoleRatio ? group.measured : 0;
  verdicts.Add("unfused layers, their part of the run", "", Text("%.1f %%", 100 * compared / run), std::nullopt);
  verdicts.Add("of the run in layers that we are slower at", "<= 10 %", Text("%.2f %%", 100 * in_holes / run),
               in_holes <= 0.1 * run);
  for (const Group& group : sorted) {
    if (!all && group.ratio() <= kHoleRatio) break;
    std::printf("    %5.2fx  %3d x  %9.1f us against %9.1f us  %s  %s\n", group.ratio(), group.count,
                group.bound / group.count, group.measured / group.count, group.candidate.c_str(), group.config.c_str());
  }
}

double DenseRead(const Json& report) {
  for (const Json& floor : report.at("floors"))
    if (floor.at("class") == "dense-read") return floor.at("latency_us");
  return 0;
}

void CheckCoverage(const Json& report, Verdicts& verdicts) {
  const Json& coverage = report.at("coverage");
  const bool convolutional = std::any_of(report.at("layers").begin(), report.at("layers").end(),
                                         [](const Json& layer) { return layer.at("family") == "convolution"; });
  const double limit = convolutional ? 0.05 : 0.15, estimated = coverage.at("estimated");
  verdicts.Add("missing", "0", Text("%.2f %%", 100 * coverage.at("missing").get<double>()),
               coverage.at("missing").get<double>() == 0);
  verdicts.Add("estimated", Text("< %.0f %%", 100 * limit), Text("%.2f %%", 100 * estimated), estimated < limit);
}

bool RunModel(const Options& options, const std::string& model) {
  const ProgramTest program;
  Verdicts verdicts;
  std::printf("%s\n  %-44s %-14s %-22s %s\n", model.c_str(), "what", "asked", "measured", "held");
  const std::vector<std::string> named = ModelArguments(model);
  std::vector<std::string> analyze{"analyze"}, bound{"bound"};
  analyze.insert(analyze.end(), named.begin(), named.end());
  bound.insert(bound.end(), named.begin(), named.end());
  analyze.insert(analyze.end(), {"--budget", options.budget, "--report", "report.json"});

  Ended ended;
  const Seconds whole = Time(program, analyze, ended);
  if (ended.exit_code != 0) {
    std::printf("  failed: %s\n", ended.errors.c_str());
    return false;
  }
  const std::string_view lead = "first answer after ";
  const std::size_t at = ended.errors.find(lead);
  const double first = at == std::string::npos ? 1e9 : std::atof(ended.errors.c_str() + at + lead.size());
  verdicts.Add("first answer", "<= 5 s", Text("%.1f s", first), first <= 5);
  verdicts.Add("the whole analysis, budget " + options.budget, "", Text("%.0f s", whole.count()), std::nullopt);
  const Seconds again = Time(program, bound, ended);
  verdicts.Add("bound, with nothing to measure", "<= 0.3 s", Text("%.3f s", again.count()),
               ended.exit_code == 0 && again.count() <= 0.3);

  const Json report = Json::parse(program.Read("report.json"));
  CheckCoverage(report, verdicts);
  const double floor = DenseRead(report);
  if (!report.at("run").is_null()) {
    const double run = report.at("run").at("latency_us");
    verdicts.Add("floor / framework's run", "< 1", Text("%.3f", floor / run), floor < run);
    for (const Json& each : report.at("bounds")) {
      verdicts.Add("bound (" + each.at("variant").get<std::string>() + ") / framework's run", "",
                   Text("%.3f", each.at("latency_us").get<double>() / run), std::nullopt);
    }
    CompareUnfused(report, options.all, verdicts);
  }
  std::fflush(stdout);
  return verdicts.all_held();
}

// As the device's identity has it: what the system tells may be that of all sockets.
std::int64_t LastLevelCache(const ProgramTest& program) {
  const Ended ended = program.Infimum({"devices", "--format", "json"});
  const Json devices = Json::parse(ended.output, nullptr, false);
  for (const Json& device : devices.is_object() ? devices.value("devices", Json::array()) : Json::array()) {
    if (device.value("here", false)) return device.value("last_level_cache_bytes", std::int64_t{0});
  }
  return 0;
}

// Reads and writes together are eight times the cache, unless that would be a tensor of over a gigabyte.
bool RunElementwise() {
  const ProgramTest program;
  const std::int64_t cache = LastLevelCache(program);
  const std::int64_t wanted = 4 * std::max<std::int64_t>(cache, 1 << 20);
  const std::int64_t bytes = std::min(wanted, kLargestTensor);
  std::printf("Relu of %.0f MiB, last-level cache %.0f MiB%s\n", static_cast<double>(bytes) / (1 << 20),
              static_cast<double>(cache) / (1 << 20), bytes < wanted ? " (capped: smaller than eight times it)" : "");
  const std::string text = R"(<ir_version: 8, opset_import: ["" : 17]> g (float[)" + std::to_string(bytes / 4) +
                           "] x) => (float[" + std::to_string(bytes / 4) + "] y) { y = Relu (x) }";
  onnx::ModelProto model;
  if (!onnx::OnnxParser::Parse(model, text.c_str()).IsOK()) return false;
  program.Write("relu.onnx", model.SerializeAsString());
  const Ended ended = program.Infimum({"analyze", "relu.onnx", "--budget", "1m", "--report", "report.json"});
  if (ended.exit_code != 0) {
    std::printf("  failed: %s\n", ended.errors.c_str());
    return false;
  }
  const Json report = Json::parse(program.Read("report.json"));
  const double floor = DenseRead(report), shown = report.at("bounds").at(0).at("latency_us");
  Verdicts verdicts;
  verdicts.Add("floor / demonstrated time of the best kernel", ">= 0.7, <= 1", Text("%.3f", floor / shown),
               floor >= 0.7 * shown && floor <= shown);
  if (!report.at("run").is_null()) {
    const double run = report.at("run").at("latency_us");
    verdicts.Add("floor / framework's run", "< 1", Text("%.3f", floor / run), floor < run);
  }
  return verdicts.all_held();
}

Options Parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--budget" && i + 1 < argc) {
      options.budget = argv[++i];
    } else if (argument == "--all") {
      options.all = true;
    } else if (argument == "--elementwise") {
      options.elementwise = true;
    } else {
      options.models.push_back(argument);
    }
  }
  return options;
}

}  // namespace
}  // namespace infimum::testing

INFIMUM_BENCHMARK(analysis, "[--budget TIME] [--all] [--elementwise] MODEL[:NAME=N,...]...") {
  const infimum::testing::Options options = infimum::testing::Parse(argc, argv);
  if (options.models.empty() && !options.elementwise) {
    return 2;
  }
  bool held = true;
  if (options.elementwise) held = infimum::testing::RunElementwise() && held;
  for (const std::string& model : options.models) held = infimum::testing::RunModel(options, model) && held;
  return held ? 0 : 1;
}
