// Where a model's bounds, its demonstrated run and frameworks' runs stand on this machine, as a table in Markdown:
//
//   benchmarks bracket [--budget 5m] [--analyses 6] [--confirm 2m] [--rounds 3] [--folder DIR] [--threads N]
//                      [--framework onnxruntime,openvino,pytorch] [--python PATH] [--modules FILE.py]
//                      MODEL[:NAME=N,...]...
//
// Every model is analyzed until nothing is missing, as often as `analyses` says at most; with --confirm what decides
// its bound is measured again for that long. Then the frameworks and the demonstrated run are measured in turn,
// `rounds` times, each in two processes, of a framework of 2 s: the clock of a machine wanders over minutes, so each of
// them gets its chance at the fast ones. Of each the fastest run in the store counts, by the mean of its processes.
// With --folder the stores stay, and another run goes on with them (--rounds 0: as they are).
//
// A framework that cannot run a model in the first round is left out there, with its reason; pytorch, which is
// compiled, of models whose name is no function in the file of --modules.
//
//   F1           bound fused-sequential          T      the fastest framework
//   R            the demonstrated run            error  R over the sum of its parts, with that share of their weights
//                                                       in the caches
//   R / T        the mean of its logarithm over the rounds, R and T each of the same round, and its 95 % interval
//                (Student's t); of one round or none the ratio of the fastest runs
//
// A star: the choice of layouts is not exact, and with-layouts therefore no more than F1. "unconverged": rows behind F1
// did not settle within their time, so that its interval is wide and may lie above it.
//
// Exits with 1 where F1 or with-layouts lies above T beyond noise, a point lies outside its interval, the composition
// error is above 1.10, R / F1 is above 1.25 or in the median of the models above 1.12, or a step fails. By hand and on
// a machine that does nothing else: the times are real.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "infimum/base/file_text.h"
#include "infimum/base/text.h"
#include "infimum/measurement/statistics.h"
#include "tests/app/commands/model_arguments.h"
#include "tests/app/commands/program.h"
#include "tests/support/benchmark.h"

namespace infimum::testing {
namespace {

using Json = nlohmann::json;

constexpr double kLargestError = 1.10, kMostOverBound = 1.25, kMostOverBoundMedian = 1.12;

struct Options {
  std::string budget = "5m";
  std::string confirm;
  int analyses = 6;
  int rounds = 3;
  std::string folder, python, modules;
  std::string threads = "1";
  std::vector<std::string> frameworks{"onnxruntime"};
  std::vector<std::string> models;
};

// Microseconds.
struct Standing {
  std::string name;
  double floor = 0, fused = 0, with_layouts = 0, sequential = 0, heuristic = 0, low = 0, high = 0, missing = 0;
  std::size_t changes = 0;
  bool exact = true, unconverged = false;
  std::optional<double> demonstrated, error;
  double share = 1;                                 // of the weights in the caches
  std::map<std::string, double> runs;               // by framework
  double run = 0, run_high = 0;                     // of the fastest
  std::string fastest;                              // its name
  double ratio = 0, ratio_low = 0, ratio_high = 0;  // R / T
  std::vector<std::string> faults;
};

class Bench {
 public:
  Bench(const Options& options, const std::string& model)
      : options_(options), named_(ModelArguments(model)), name_(std::filesystem::path(named_[0]).stem().string()) {
    const std::filesystem::path folder =
        options.folder.empty() ? program_.folder() : std::filesystem::absolute(options.folder);
    std::filesystem::create_directories(folder);
    named_.insert(named_.end(), {"--db", (folder / (name_ + ".db")).string(), "--threads", options.threads});
    if (!HasModule()) std::erase(frameworks_, "pytorch");
  }

  Standing Measure() {
    Standing standing;
    standing.name = name_;
    for (int i = 0; i < options_.analyses; ++i) {
      const std::vector<std::string> analyzed{"--budget",    options_.budget, "--report",
                                              "report.json", "--quiet",       "--framework"};
      // The rounds measure frameworks and R.
      const Ended ended = options_.rounds > 0
                              ? Run("analyze", Joined(analyzed, {"none", "--no-replay"}), standing)
                              : Run("analyze", WithModule(Joined(analyzed, {Join(frameworks_, ",")})), standing);
      if (ended.exit_code != 0 || !IsUnfinished()) break;
    }
    if (!options_.confirm.empty() && standing.faults.empty())
      Run("confirm", {"--budget", options_.confirm, "--quiet"}, standing);
    for (int round = 0; round < options_.rounds && standing.faults.empty(); ++round) {
      std::size_t left = frameworks_.size();
      std::erase_if(frameworks_, [&](const std::string& framework) {
        const std::vector<std::string> measured{"--quiet", "--framework", framework, "--repetitions",
                                                "2",       "--seconds",   "2"};
        const bool is_module = framework == "pytorch";
        const bool runs = Run("measure", is_module ? WithModule(measured) : With(measured), standing).exit_code == 0;
        if (runs || round > 0 || left == 1) return false;
        --left;
        std::fprintf(stderr, "%s: left out: %s\n", name_.c_str(), standing.faults.back().c_str());
        standing.faults.pop_back();
        return true;
      });
      Run("replay", With({"--quiet", "--budget", "1s", "--repetitions", "2"}), standing);
    }
    if (standing.faults.empty()) Fill(standing);
    return standing;
  }

 private:
  static std::vector<std::string> Joined(std::vector<std::string> arguments, const std::vector<std::string>& more) {
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  std::vector<std::string> With(std::vector<std::string> arguments) const {
    if (!options_.python.empty()) arguments.insert(arguments.end(), {"--python", options_.python});
    return arguments;
  }

  bool HasModule() const {
    if (options_.modules.empty()) return false;
    const Result<std::string> text = ReadFile(options_.modules);
    return text.ok() && text->find("def " + name_ + "(") != std::string::npos;
  }
  std::vector<std::string> WithModule(std::vector<std::string> arguments) const {
    if (std::ranges::count(frameworks_, "pytorch") > 0)
      arguments.insert(arguments.end(), {"--module", options_.modules + ":" + name_, "--mode", "compiled"});
    return With(std::move(arguments));
  }

  Ended Run(const std::string& command, const std::vector<std::string>& more, Standing& standing) {
    std::vector<std::string> arguments{command};
    arguments.insert(arguments.end(), named_.begin(), named_.end());
    arguments.insert(arguments.end(), more.begin(), more.end());
    Ended ended = program_.Infimum(arguments);
    if (ended.exit_code != 0) standing.faults.push_back(command + ": " + ended.errors);
    return ended;
  }

  Json Bound(Standing& standing) {
    const Ended ended = Run("bound", {"--format", "json"}, standing);
    return Json::parse(ended.output, nullptr, false);
  }

  bool IsUnfinished() const {
    const Json report = Json::parse(program_.Read("report.json"), nullptr, false);
    const std::string text = report.dump();
    return text.find(" s is spent") != std::string::npos;
  }

  void Fill(Standing& standing) {
    const Json bound = Bound(standing);
    if (!bound.is_object()) return;
    standing.floor = bound.at("floor_us");
    standing.missing =
        bound.at("coverage").at("missing").get<double>() + bound.at("coverage").at("estimated").get<double>();
    double layouts_low = 0;
    for (const Json& one : bound.at("bounds")) {
      const double time = one.at("latency_us");
      const Json& interval = one.at("interval_us");
      const double low = interval.is_null() ? time : interval[0].get<double>();
      const double high = interval.is_null() ? time : interval[1].get<double>();
      if (time < low || time > high)
        standing.faults.push_back(one.at("variant").get<std::string>() + " is outside its interval");
      if (one.at("variant") == "sequential") standing.sequential = time;
      if (one.at("variant") == "heuristic") standing.heuristic = time;
      if (one.at("variant") == "fused-sequential") {
        standing.fused = time;
        standing.low = low;
        standing.high = high;
        for (const Json& tag : one.at("assumptions")) standing.unconverged |= tag == "unconverged-rows";
      }
      if (one.at("variant") == "with-layouts") {
        standing.with_layouts = time;
        layouts_low = low;
      }
    }
    if (!bound.at("layouts").is_null()) {
      standing.exact = bound.at("layouts").at("exact");
      standing.changes = bound.at("layouts").at("transforms").size();
    }
    if (!bound.at("demonstrated_us").is_null()) standing.demonstrated = bound.at("demonstrated_us").get<double>();
    const Json& error = bound.at("composition_error");
    if (!error.is_null()) {
      standing.share = error.at("resident_share");
      standing.error = error.at("value").get<double>();
    }
    for (const Json& limit : bound.at("upper")) {
      const Json& interval = limit.at("interval_us");
      if (!interval.is_null() && (limit.at("latency_us") < interval[0] || limit.at("latency_us") > interval[1]))
        standing.faults.push_back(limit.at("name").get<std::string>() + " is outside its interval");
      const std::string name = limit.at("name");
      if (name == "demonstrated") continue;
      standing.runs.try_emplace(name.substr(0, name.find(' ')), limit.at("latency_us"));  // the fastest first
      if (standing.run > 0) continue;
      standing.run = limit.at("latency_us");
      standing.fastest = name.substr(0, name.find(' '));
      standing.run_high = limit.at("interval_us").is_null() ? standing.run : limit.at("interval_us")[1].get<double>();
    }
    FillRatio(standing);
    const auto check = [&](bool holds, std::string fault) {
      if (!holds) standing.faults.push_back(std::move(fault));
    };
    check(standing.run == 0 || standing.low <= standing.run_high, "fused-sequential is above the framework's run");
    check(standing.run == 0 || layouts_low <= standing.run_high, "with-layouts is above the framework's run");
    check(!standing.error || *standing.error <= kLargestError, "the composition error is above 1.10");
    check(standing.demonstrated.has_value(), "there is no demonstrated run");
    check(!standing.demonstrated || *standing.demonstrated <= kMostOverBound * standing.fused, "R / F1 is above 1.25");
  }

  // R / T of each round; a round with a noisy run has none.
  void FillRatio(Standing& standing) {
    standing.ratio = standing.run > 0 ? standing.demonstrated.value_or(0) / standing.run : 0;
    standing.ratio_low = standing.ratio_high = standing.ratio;
    const Ended ended = program_.Infimum({"query", "--db", named_[DatabaseIndex()], "--format", "json", "--sql",
                                          "SELECT framework, best_us FROM runs ORDER BY id"});
    const Json answer = Json::parse(ended.output, nullptr, false);
    const Json runs = answer.is_object() ? answer.at("rows") : Json::array();
    const std::size_t each = frameworks_.size() + 1, count = each * static_cast<std::size_t>(options_.rounds);
    if (runs.size() < count) return;
    std::vector<double> logs;
    for (std::size_t first = runs.size() - count; first < runs.size(); first += each) {
      std::optional<double> shown, run;
      for (std::size_t i = first; i < first + each; ++i) {
        const Json& time = runs[i][1];
        if (time.is_null()) continue;
        if (runs[i][0] == "infimum-replay") shown = time;
        if (runs[i][0] == standing.fastest) run = time;
      }
      if (shown && run) logs.push_back(std::log(*shown / *run));
    }
    if (logs.size() < 2) return;
    double mean = 0, squares = 0;
    for (const double one : logs) mean += one / static_cast<double>(logs.size());
    for (const double one : logs) squares += (one - mean) * (one - mean);
    const auto degrees = static_cast<double>(logs.size() - 1);
    const double half =
        StudentTQuantile(0.975, degrees) * std::sqrt(squares / degrees / static_cast<double>(logs.size()));
    standing.ratio = std::exp(mean);
    standing.ratio_low = std::exp(mean - half);
    standing.ratio_high = std::exp(mean + half);
  }

  std::size_t DatabaseIndex() const {
    return static_cast<std::size_t>(std::ranges::find(named_, "--db") - named_.begin()) + 1;
  }

  const Options& options_;
  std::vector<std::string> frameworks_ = options_.frameworks;  // that run the model
  ProgramTest program_;
  std::vector<std::string> named_;
  std::string name_;
};

std::string Milliseconds(double microseconds) { return fmt::format("{:.3g}", microseconds / 1000); }

void PrintHead(const Options& options) {
  std::string names, rule;
  for (const std::string& framework : options.frameworks) {
    names += " " + framework + " |";
    rule += " ---: |";
  }
  std::printf(
      "all times in ms, --threads %s\n\n"
      "| model | floor | F1 | its 95 %% interval | with layouts | changes | sequential | libraries' choice | R |%s "
      "F1 / T | R / F1 | R / T | its 95 %% interval | composition error |\n"
      "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |%s ---: | ---: | ---: | ---: | --- |\n",
      options.threads.c_str(), names.c_str(), rule.c_str());
}

void Print(const Options& options, const Standing& row) {
  const double r = row.demonstrated.value_or(0);
  const auto ratio = [](double a, double b) {
    return a > 0 && b > 0 ? fmt::format("{:.2f}", a / b) : std::string("-");
  };
  const std::string error = row.error ? fmt::format("{:.3f} at {:.2f}", *row.error, row.share) : "-";
  std::string runs;
  for (const std::string& framework : options.frameworks) {
    const auto found = row.runs.find(framework);
    runs += fmt::format(" {} |", found == row.runs.end() ? "" : Milliseconds(found->second));
  }
  const std::string line = fmt::format(
      "| {} | {} | {} | {} to {}{} | {}{} | {} | {} | {} | {} |{} {} | {} | {} | {} | {} |", row.name,
      Milliseconds(row.floor), Milliseconds(row.fused), Milliseconds(row.low), Milliseconds(row.high),
      row.unconverged ? ", unconverged" : "", Milliseconds(row.with_layouts), row.exact ? "" : "*", row.changes,
      Milliseconds(row.sequential), Milliseconds(row.heuristic), Milliseconds(r), runs, ratio(row.fused, row.run),
      ratio(r, row.fused), row.ratio > 0 ? fmt::format("{:.2f}", row.ratio) : "-",
      row.ratio_high > row.ratio_low ? fmt::format("{:.3f} to {:.3f}", row.ratio_low, row.ratio_high) : "", error);
  if (row.fused > 0) std::printf("%s\n", line.c_str());
  if (row.missing > 0) std::fprintf(stderr, "%s: %.2f %% is not measured\n", row.name.c_str(), 100 * row.missing);
  for (const std::string& fault : row.faults) std::fprintf(stderr, "%s: %s\n", row.name.c_str(), fault.c_str());
  std::fflush(stdout);
}

Options Parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const bool has_value = i + 1 < argc;
    if (argument == "--budget" && has_value) {
      options.budget = argv[++i];
    } else if (argument == "--confirm" && has_value) {
      options.confirm = argv[++i];
    } else if (argument == "--analyses" && has_value) {
      options.analyses = std::atoi(argv[++i]);
    } else if (argument == "--rounds" && has_value) {
      options.rounds = std::atoi(argv[++i]);
    } else if (argument == "--folder" && has_value) {
      options.folder = argv[++i];
    } else if (argument == "--python" && has_value) {
      options.python = argv[++i];
    } else if (argument == "--modules" && has_value) {
      options.modules = std::filesystem::absolute(argv[++i]).string();
    } else if (argument == "--threads" && has_value) {
      options.threads = argv[++i];
    } else if (argument == "--framework" && has_value) {
      options.frameworks.clear();
      for (const std::string_view name : Split(argv[++i], ',')) options.frameworks.emplace_back(name);
    } else {
      options.models.push_back(argument);
    }
  }
  return options;
}

// What is promised of R and the fastest framework over all models.
bool HoldsAgainstFrameworks(const std::vector<Standing>& rows) {
  constexpr double kMostOfEach = 1.05, kShareBelow = 0.75, kMostInTheMean = 0.95;
  std::size_t count = 0, below = 0, far = 0;
  double logs = 0;
  for (const Standing& row : rows) {
    if (row.ratio <= 0) continue;
    ++count;
    below += row.ratio_high < 1;
    far += std::min(row.ratio, row.ratio_low) > kMostOfEach;
    logs += std::log(row.ratio);
  }
  if (count == 0) return true;
  const double mean = std::exp(logs / static_cast<double>(count));
  const bool holds =
      static_cast<double>(below) >= kShareBelow * static_cast<double>(count) && far == 0 && mean <= kMostInTheMean;
  std::printf(
      "R / T: geometric mean %.3f (at most %.2f), below 1 on %zu of %zu (three quarters), above %.2f on %zu: %s\n",
      mean, kMostInTheMean, below, count, kMostOfEach, far, holds ? "yes" : "NO");
  return holds;
}

}  // namespace
}  // namespace infimum::testing

INFIMUM_BENCHMARK(bracket,
                  "[--budget TIME] [--analyses N] [--confirm TIME] [--rounds N] [--folder DIR] [--threads N] "
                  "[--framework F,...] [--python PATH] [--modules FILE] MODEL[:NAME=N,...]...") {
  const infimum::testing::Options options = infimum::testing::Parse(argc, argv);
  if (options.models.empty()) {
    return 2;
  }
  bool held = true;
  std::vector<infimum::testing::Standing> rows;
  std::vector<double> ratios;
  infimum::testing::PrintHead(options);
  for (const std::string& model : options.models) {
    const infimum::testing::Standing& standing = rows.emplace_back(infimum::testing::Bench(options, model).Measure());
    infimum::testing::Print(options, standing);
    held = held && standing.faults.empty();
    if (standing.demonstrated && standing.fused > 0) ratios.push_back(*standing.demonstrated / standing.fused);
  }
  if (!ratios.empty()) {
    std::ranges::sort(ratios);
    const double median = ratios[ratios.size() / 2];
    const bool holds = median <= infimum::testing::kMostOverBoundMedian;
    std::printf("\nR / F1 in the median: %.3f (at most %.2f: %s)\n", median, infimum::testing::kMostOverBoundMedian,
                holds ? "yes" : "NO");
    held = held && holds;
  }
  held = infimum::testing::HoldsAgainstFrameworks(rows) && held;
  return held ? 0 : 1;
}
