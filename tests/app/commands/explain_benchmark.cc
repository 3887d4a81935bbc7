// What `infimum explain` promises, on real inferences:
//
//   benchmarks explain --folder DIR MODEL[:NAME=N,...]...
//
// DIR has the models' stores, MODEL.db, as `benchmarks bracket --folder DIR` leaves them (analyzed; a framework's run
// is used where one is stored). For each model: the whole command within two minutes; every half interval at most
// 0.3 % of the whole where one inference deviates by at most 1.5 %, else at most 1.3 x 1.96 x 2 sigma / sqrt(N); the
// effects' sum equals the difference of the ends within its interval. Exits with 1 where one did not hold.
//
// By hand and on a machine that does nothing else: the times are real.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/app/commands/model_arguments.h"
#include "tests/app/commands/program.h"
#include "tests/support/benchmark.h"

namespace infimum::testing {
namespace {

using Json = nlohmann::json;

constexpr double kSeconds = 120;
constexpr double kQuiet = 0.015;
constexpr double kHalfOfWhole = 0.003;
constexpr double kOfIdeal = 1.3;

bool Explains(const std::string& folder, const std::string& model) {
  const ProgramTest program;
  std::vector<std::string> arguments = ModelArguments(model);
  const std::string name = std::filesystem::path(arguments[0]).stem().string();
  arguments.insert(arguments.begin(), "explain");
  const std::string store = (std::filesystem::absolute(folder) / (name + ".db")).string();
  arguments.insert(arguments.end(), {"--db", store, "--format", "json"});
  const auto start = std::chrono::steady_clock::now();
  const Ended ended = program.Infimum(arguments);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const Json json = Json::parse(ended.output, nullptr, false);
  if (ended.exit_code != 0 || !json.is_object()) {
    fmt::print("{}: {}\n", name, ended.errors);
    return false;
  }
  const double whole = json.at("level0").at("latency_us"), deviation = json.at("deviation_us");
  const double ideal = json.at("ideal_half_width_us");
  double widest = 0;
  std::size_t real = 0;
  for (const Json& factor : json.at("factors")) {
    const Json& effect = factor.at("effect");
    const double high = effect.at("interval_us").at(1), low = effect.at("interval_us").at(0);
    widest = std::max(widest, (high - low) / 2);
    real += effect.at("is_real").get<bool>() ? 1 : 0;
  }
  const double allowed = deviation <= kQuiet * whole ? kHalfOfWhole * whole : kOfIdeal * ideal;
  const bool in_time = seconds <= kSeconds, is_narrow = widest <= allowed, adds_up = json.at("adds_up");
  fmt::print("{}: {:.0f} s{}; {} factors, {} real; {} inferences of {:.2f} ms, sigma {:.2f} %\n", name, seconds,
             in_time ? "" : " (TOO LONG)", json.at("factors").size(), real, json.at("inferences").get<int>(),
             whole / 1000, 100 * deviation / whole);
  fmt::print(
      "  widest half interval {:.1f} us = {:.3f} % of the whole, {:.1f} allowed, 1.96 x 2 sigma / sqrt(N) {:.1f}{}\n",
      widest, 100 * widest / whole, allowed, ideal, is_narrow ? "" : " (TOO WIDE)");
  const auto text = [&](const char* difference) {
    const Json& of = json.at(difference);
    return fmt::format("{:.1f} [{:.1f}, {:.1f}]", of.at("latency_us").get<double>(),
                       of.at("interval_us").at(0).get<double>(), of.at("interval_us").at(1).get<double>());
  };
  fmt::print("  ends differ by {} us, effects sum to {}, left {}{}; lack of fit {}\n", text("difference"), text("sum"),
             text("unexplained"), adds_up ? "" : " (NOT NOTHING)", json.at("lack_of_fit").dump());
  return in_time && is_narrow && adds_up;
}

}  // namespace
}  // namespace infimum::testing

INFIMUM_BENCHMARK(explain, "--folder DIR MODEL[:NAME=N,...]...") {
  if (argc < 4 || std::string(argv[1]) != "--folder") return 2;
  bool all = true;
  for (int i = 3; i < argc; ++i) all = infimum::testing::Explains(argv[2], argv[i]) && all;
  return all ? 0 : 1;
}
