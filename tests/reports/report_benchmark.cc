// How long a report of a large model takes to write, and how large it is, beside a library's pass over the same data.
//
//   benchmarks report            500 layers and 5,000
//     500 layers: HTML 8.1 ms, 0.78 MB (JSON 2.1 ms); 1.3 times reading its JSON (nlohmann/json)
//
// Exit code 1 where 500 layers take over 0.2 s or 3 MB, or where time grows faster than layers.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "reports/model/report_forms.h"
#include "reports/page/html_report.h"
#include "tests/reports/sample_report.h"
#include "tests/support/benchmark.h"

namespace infimum {
namespace {

using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr Milliseconds kMostTime{200};
constexpr std::size_t kMostBytes = 3'000'000;
constexpr double kMostGrowth = 2;  // of the time for each layer, from 500 to 5,000
constexpr int kRounds = 5;

// The least of some rounds: other work only adds to it.
template <typename Work>
Milliseconds TimeOf(const Work& work) {
  Milliseconds least{1e9};
  for (int round = 0; round < kRounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    least = std::min(least, Milliseconds(std::chrono::steady_clock::now() - begin));
  }
  return least;
}

struct Cost {
  std::size_t layers = 0;
  Milliseconds html{0};
  std::size_t bytes = 0;
};

Cost MeasureReport(std::size_t stages) {
  const ReportModel report = SampleReport({stages});
  const std::string json = ReportJson(report);
  Cost cost{report.graph.layers.size(), TimeOf([&] { return HtmlReport(report).size(); }), HtmlReport(report).size()};
  const Milliseconds json_time = TimeOf([&] { return ReportJson(report).size(); });
  const Milliseconds reading = TimeOf([&] { return nlohmann::json::parse(json).size(); });
  std::cout << fmt::format(
      "{} layers: HTML {:.1f} ms, {:.2f} MB (JSON {:.1f} ms); {:.1f} times reading its JSON (nlohmann/json)\n",
      cost.layers, cost.html.count(), static_cast<double>(cost.bytes) / 1e6, json_time.count(), cost.html / reading);
  return cost;
}

}  // namespace
}  // namespace infimum

INFIMUM_BENCHMARK(report, "") {
  // About 163 layers a stage, and a few before and after.
  const infimum::Cost small = infimum::MeasureReport(3), large = infimum::MeasureReport(30);
  const double growth =
      (large.html / static_cast<double>(large.layers)) / (small.html / static_cast<double>(small.layers));
  std::cout << fmt::format("{:.2f} times as long for each layer of {} as of {}\n", growth, large.layers, small.layers);
  const bool holds =
      small.html <= infimum::kMostTime && small.bytes <= infimum::kMostBytes && growth <= infimum::kMostGrowth;
  if (!holds) std::cout << "a report of 500 layers must take at most 200 ms and 3 MB, and one of 5,000 in proportion\n";
  return holds ? 0 : 1;
}
