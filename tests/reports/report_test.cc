// The summary, the sentence and the Markdown report, on the sample.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "reports/model/glossary.h"
#include "reports/model/report_commands.h"
#include "reports/model/report_forms.h"
#include "reports/page/html_report.h"
#include "reports/text/layer_words.h"
#include "reports/text/terminal_text.h"
#include "tests/reports/golden.h"
#include "tests/reports/sample_report.h"

namespace infimum {
namespace {

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t start = 0; start < text.size();) {
    std::size_t end = text.find('\n', start);
    lines.push_back(text.substr(start, end - start));
    start = end + 1;
  }
  return lines;
}

void ExpectOneScreen(const std::string& summary) {
  std::vector<std::string> lines = Lines(summary);
  EXPECT_LE(lines.size(), 24u) << summary;
  for (const std::string& line : lines) EXPECT_LE(DisplayWidth(line), 100u) << line;
}

TEST(Glossary, SaysTheSharesOfTheWeightsThatFloorsAreTaggedBy) {
  ReportModel report = SampleReport();
  ASSERT_FALSE(report.bracket.floors.empty());
  report.bracket.floors.back().assumptions = {"sparse-weights", "compressible-weights"};
  report.graph.weights = WeightSample{Bytes{102'000'000}, 0.305, 0.541};
  const auto meaning_of = [&](std::string_view tag) {
    for (const GlossaryEntry& entry : GlossaryOf(report))
      if (entry.tag == tag) return entry.meaning;
    return std::string();
  };
  EXPECT_THAT(meaning_of("sparse-weights"), ::testing::HasSubstr("are zero: programs that skip zeros may take less"));
  EXPECT_THAT(meaning_of("sparse-weights"), ::testing::EndsWith(" In a sample 30.5 % are."));
  EXPECT_THAT(meaning_of("compressible-weights"), ::testing::EndsWith(" In a sample they need 54.1 %."));
}

TEST(Summary, IsAsTheGoldenText) {
  ExpectGolden("summary.txt", Summary(SampleReport(), {false, "report.html"}));
  ExpectGolden("summary_without_run.txt", Summary(SampleReport({1, false, false}), {}));
}

TEST(Summary, FitsOneScreenWhateverTheReportHolds) {
  ReportModel report = SampleReport();
  for (int i = 0; i < 30; ++i) {
    report.bracket.bounds.push_back(report.bracket.bounds.front());
    report.advice.push_back({std::string(500, 'a'), std::string(500, 'b')});
  }
  report.model_name = std::string(3000, 'm') + "\x1b[2J\n\n\n";
  for (Layer& layer : report.graph.layers) layer.name = std::string(300, 'n') + "\n";
  report.run->profile.framework = std::string(900, 'f');
  std::string summary = Summary(report, {false, std::string(400, 'p')});
  ExpectOneScreen(summary);
  EXPECT_EQ(summary.find('\x1b'), std::string::npos);
  ExpectOneScreen(Summary(SampleReport(), {false, "report.html"}));
  ExpectOneScreen(Summary(ReportModel(), {}));
}

TEST(Summary, ColoursAreOnlyThereWhenAskedFor) {
  EXPECT_EQ(Summary(SampleReport(), {}).find('\x1b'), std::string::npos);
  EXPECT_NE(Summary(SampleReport(), {true, ""}).find('\x1b'), std::string::npos);
}

TEST(Summary, ASumBelowTheFloorIsSaidToBeIncomplete) {
  ReportModel report;
  report.bracket.bounds = {{BoundVariant::kSequential, Latency(900), {Latency(900), Latency(900)}, {}}};
  report.bracket.floors = {{ProgramClass::kTextbook, Latency(1000), "bandwidth memory", {}}};
  report.bracket.coverage = {0.79, 0, 0, 0.21};
  EXPECT_THAT(Summary(report, {}),
              ::testing::ContainsRegex("bound, sequential +900 µs +(█)+ incomplete, 21 % is missing"));
  ExpectOneScreen(Summary(report, {}));
  report.bracket.bounds.front().latency = Latency(1100);
  EXPECT_THAT(Summary(report, {}), ::testing::Not(::testing::HasSubstr("incomplete")));
}

TEST(Headline, SaysWhatCouldBeWon) {
  ReportModel report;
  report.model_name = "resnet50";
  report.bracket.coverage = {1, 0, 0, 0};
  report.run = ReportRun();
  report.run->profile.framework = "onnxruntime";
  report.run->profile.framework_version = "1.31.1";
  report.run->latency = Latency(52100);
  report.bracket.bounds = {{BoundVariant::kParallel, Latency(40000), {Latency(40000), Latency(40500)}, {}},
                           {BoundVariant::kSequential, Latency(44200), {Latency(44000), Latency(44900)}, {}}};
  report.bracket.floors = {{ProgramClass::kDenseRead, Latency(19800), "bandwidth memory", {}}};
  EXPECT_EQ(
      Headline(report),
      "resnet50 runs in 52.1 ms on onnxruntime 1.31.1; the best known kernels add up to 44.2 ms, not shown yet: 15.2 % "
      "could be won (7.90 ms). A program that reads every weight once takes at least 19.8 ms on this device.");
  report.bracket.floors.front().assumptions = {"estimated"};
  EXPECT_NE(Headline(report).find("on this device, by its measured rates."), std::string::npos);
  // Less than one launch is no news.
  report.bracket.floors.push_back({ProgramClass::kLaunched, Latency(20000), "one launch", {}});
  EXPECT_EQ(Headline(report).find("reads every weight"), std::string::npos);
}

TEST(OtherRuns, AreOfEachOtherFrameworkTheFastest) {
  ReportModel report;
  for (const char* name : {"openvino 2026.4", "demonstrated", "onnxruntime 1.31", "onnxruntime 1.30", "pytorch 2.15"})
    report.bracket.upper.push_back({name, Latency(1000), {Latency(1000), Latency(1000)}});
  const auto names = [&report] {
    std::string text;
    for (const UpperLimit& other : OtherRunsOf(report)) text += other.name + ", ";
    return text;
  };
  EXPECT_EQ(names(), "openvino 2026.4, onnxruntime 1.31, pytorch 2.15, ");
  report.run = ReportRun();
  report.run->profile.framework = "openvino";
  EXPECT_EQ(names(), "onnxruntime 1.31, pytorch 2.15, ");
}

TEST(MeasureCommand, NamesTheFrameworkAndWhatItTakes) {
  ReportModel report;
  report.arguments.model = "resnet50.onnx";
  report.bench_options = "";
  report.device_key = "cpu/here";
  report.run = ReportRun();
  RunProfile& run = report.run->profile;
  run.framework = "onnxruntime";
  EXPECT_EQ(MeasureCommand(report), "infimum measure resnet50.onnx");
  run.framework = "openvino";
  EXPECT_EQ(MeasureCommand(report), "infimum measure resnet50.onnx --framework openvino");
  run.framework = "pytorch";
  run.settings = {{"mode", "compiled"}, {"module", "my models.py:resnet50"}};
  EXPECT_EQ(MeasureCommand(report),
            "infimum measure resnet50.onnx --framework pytorch --module 'my models.py:resnet50' --mode compiled");
  run.framework = "a name of somebody's";
  EXPECT_EQ(MeasureCommand(report), "infimum measure resnet50.onnx");
}

TEST(Headline, TheVerbFollowsTheEvidence) {
  ReportModel report;
  report.model_name = "resnet50";
  report.bracket.coverage = {1, 0, 0, 0};
  report.run = ReportRun();
  report.run->profile.framework = "onnxruntime";
  report.run->profile.framework_version = "1.31.1";
  report.run->latency = Latency(80'000);
  report.run->interval = Interval{Latency(79'000), Latency(81'000)};
  report.bracket.bounds = {{BoundVariant::kSequential, Latency(69'000), {Latency(68'000), Latency(70'000)}, {}}};
  const auto shown = [&report](double ms) {
    const Latency latency(ms * 1e3);
    report.bracket.demonstrated = latency;
    report.bracket.upper = {{std::string(kDemonstratedName), latency, {latency * 0.99, latency * 1.01}}};
    return Headline(report);
  };
  EXPECT_EQ(
      shown(72),
      "resnet50 runs in 80.0 ms on onnxruntime 1.31.1; a program of the best known kernels was shown to run it in "
      "72.0 ms, its outputs checked: 10 % less (8.00 ms, between 6.28 ms and 9.72 ms).");
  EXPECT_EQ(shown(80.4),
            "resnet50 runs in 80.0 ms on onnxruntime 1.31.1; the best known kernels add up to 69.0 ms, and run as one "
            "program they took 80.4 ms: 13.8 % could be won (11.0 ms, between 0 µs and 13.0 ms).");
  report.bracket.bounds.front().interval.high = Latency(79'500);
  EXPECT_EQ(shown(80.4),
            "resnet50 runs in 80.0 ms on onnxruntime 1.31.1; the best known kernels add up to 69.0 ms: no gap can be "
            "told from noise.");
  report.bracket.bounds.front() = {BoundVariant::kSequential, Latency(90'000), {Latency(88'000), Latency(91'000)}, {}};
  EXPECT_THAT(shown(95), ::testing::HasSubstr("the run is 12.5 % faster than that"));
}

// Warm caches may make a bound lower than the floor; what could be won never goes below the floor.
TEST(Headline, NeverPromisesMoreThanTheFloorAllows) {
  ReportModel report;
  report.model_name = "decoder";
  report.bracket.coverage = {1, 0, 0, 0};
  report.run = ReportRun();
  report.run->profile.framework = "onnxruntime";
  report.run->profile.framework_version = "1.31.1";
  report.run->latency = Latency(9000);
  report.bracket.bounds = {{BoundVariant::kSequential, Latency(2400), {Latency(2400), Latency(2500)}, {}}};
  report.bracket.floors = {{ProgramClass::kDenseRead, Latency(6000), "bandwidth memory", {}}};
  EXPECT_EQ(
      Headline(report),
      "decoder runs in 9.00 ms on onnxruntime 1.31.1; the best known kernels add up to 2.40 ms one by one, which is "
      "below the dense-read floor, not shown yet: at most 33.3 % could be won (3.00 ms). A program "
      "that reads every weight once takes at least 6.00 ms on this device.");
}

TEST(Headline, NeverHidesAnInversionOrWhatIsMissing) {
  ReportModel report = SampleReport();
  report.run->latency = report.bracket.bounds.front().latency * 0.9;
  report.run->interval.reset();
  EXPECT_NE(Headline(report).find("a kernel is missing from our candidates"), std::string::npos) << Headline(report);
  report = SampleReport();
  report.bracket.upper.clear();
  report.bracket.demonstrated.reset();
  EXPECT_NE(Headline(report).find("at most"), std::string::npos) << Headline(report);
  EXPECT_EQ(Headline(ReportModel()), "The model: nothing was measured yet.");
}

TEST(WithoutTimes, FloorsAndRooflineAreShownAndNothingIsSaidOfTimes) {
  const ReportModel report = SampleFloors();
  ASSERT_TRUE(HasFloorsAlone(report));
  const std::string page = HtmlReport(report), markdown = MarkdownReport(report), summary = Summary(report, {});
  for (const std::string& text : {page, markdown, summary}) {
    EXPECT_THAT(text, ::testing::HasSubstr(report.advice[0].command));
    EXPECT_THAT(text, ::testing::HasSubstr("bandwidth memory"));
    EXPECT_THAT(text, ::testing::HasSubstr("was not measured on"));
  }
  for (const char* there : {"Roofline by layer", "Roofline by operator family", "The floors", "id=\"layer-table\""})
    EXPECT_THAT(page, ::testing::HasSubstr(there));
  EXPECT_THAT(markdown, ::testing::HasSubstr("## Roofline by layer"));
  const std::string visible = page.substr(0, page.find("id=\"report-data\""));
  for (const char* gone : {"What to change first", "Ten questions", "Where the time is lost", "What is missing",
                           "How much of the bound", "What would win", "@@", "<!--", "No layer", "hread"}) {
    EXPECT_THAT(visible, ::testing::Not(::testing::HasSubstr(gone))) << gone;
    EXPECT_THAT(markdown + summary, ::testing::Not(::testing::HasSubstr(gone))) << gone;
  }
  EXPECT_THAT(summary, ::testing::Not(::testing::HasSubstr("coverage")));
  // With times all of it is there.
  const std::string measured = HtmlReport(SampleReport());
  EXPECT_THAT(measured, ::testing::HasSubstr("Ten questions about this model"));
  EXPECT_THAT(measured, ::testing::Not(::testing::HasSubstr("Roofline by operator family")));
}

TEST(Markdown, IsAsTheGoldenText) { ExpectGolden("report.md", MarkdownReport(SampleReport())); }

TEST(Markdown, NamesCannotLeaveTheirCell) {
  ReportModel report = SampleReport();
  for (Layer& layer : report.graph.layers) layer.name = "a|b`c``d\n# <b>";
  std::string text = MarkdownReport(report);
  EXPECT_NE(text.find("```a\\|b`c``d\\x0a# <b>```"), std::string::npos) << text;
}

TEST(ReportCsv, IsAsTheGoldenText) { ExpectGolden("report.csv", ReportCsv(SampleReport())); }

TEST(ReportCsv, LeavesEmptyWhatIsNotThere) {
  const ReportModel report = SampleReport({1, false, false});
  const std::vector<std::string> lines = Lines(ReportCsv(report));
  // Layers of one chosen region stand in one line.
  std::size_t lines_expected = report.graph.layers.size() + 1;
  for (const RegionLatency& region : report.bracket.regions)
    if (region.is_chosen) lines_expected -= region.layers.size() - 1;
  ASSERT_EQ(lines.size(), lines_expected);
  EXPECT_EQ(lines[0],
            "label,operators,family,status,fused,candidate,bound_us,measured_us,ratio,roofline_us,share,candidates,"
            "library_choice,regret_us,config,engine_layers\r");
}

TEST(ReportJson, TellsEveryLayerAndItsCommand) {
  ReportModel report = SampleReport();
  nlohmann::json json = nlohmann::json::parse(ReportJson(report));
  ASSERT_EQ(json["layers"].size(), report.graph.layers.size());
  EXPECT_EQ(json["layers"][0]["command"], ReproductionCommand(ConfigOf(report.graph.layers[0])));
  EXPECT_EQ(json["layers"].back()["status"], "unknown");
  EXPECT_TRUE(json["layers"].back()["latency_us"].is_null());
  std::size_t listed = 0;
  for (const nlohmann::json& row : json["rows"]) listed += row["layers"].size();
  EXPECT_EQ(listed, report.graph.layers.size());
}

TEST(ReportJson, TheGraphHasAPlaceForEveryLayerAndStaysSmall) {
  const ReportModel report = SampleReport({3, true, true});
  const nlohmann::json graph = nlohmann::json::parse(ReportJson(report))["graph"];
  EXPECT_EQ(graph["nodes"].size(), report.graph.layers.size());
  ASSERT_EQ(graph["edges"].size(), report.edges.size());
  for (std::size_t i = 0; i < report.edges.size(); ++i) {
    EXPECT_EQ(graph["edges"][i][0], report.edges[i].from);
    EXPECT_EQ(graph["edges"][i][1], report.edges[i].to);
  }
  for (const nlohmann::json& place : graph["nodes"]) {
    ASSERT_TRUE(place[0].is_number_integer() && place[1].is_number_integer());
    EXPECT_LE(place[0], graph["size"][0]);
    EXPECT_LE(place[1], graph["size"][1]);
  }
  for (const nlohmann::json& route : graph["routes"]) {
    EXPECT_LT(route[0], report.edges.size());
    EXPECT_EQ(route.size() % 2, 1u);
  }
  EXPECT_LT(graph.dump().size(), 50 * report.graph.layers.size());
}

TEST(ReportJson, ThePathOfTheGraphLeadsOverTheCriticalLayers) {
  const ReportModel report = SampleReport();
  const nlohmann::json path = nlohmann::json::parse(ReportJson(report))["graph"]["path"];
  std::size_t critical = 0;
  for (const LayerLatency& layer : report.bracket.layers) critical += layer.on_critical_path;
  ASSERT_EQ(path.size(), critical - 1);
  ASSERT_LT(critical, report.graph.layers.size());
  for (const nlohmann::json& index : path) {
    const ReportEdge& edge = report.edges[index.get<std::size_t>()];
    for (std::size_t layer = edge.from + 1; layer < edge.to; ++layer)
      EXPECT_FALSE(report.bracket.layers[layer].on_critical_path) << layer;
  }
}

TEST(ReportJson, EdgesThatLeadNowhereAreLeftOut) {
  ReportModel report = SampleReport();
  const std::size_t edges = report.edges.size();
  report.edges.push_back({3, report.graph.layers.size()});
  report.edges.push_back({1'000'000, 2});
  EXPECT_EQ(nlohmann::json::parse(ReportJson(report))["graph"]["edges"].size(), edges);
  report.graph.layers.clear();
  report.bracket.layers.clear();
  report.bracket.regions.clear();
  report.run.reset();
  EXPECT_TRUE(nlohmann::json::parse(ReportJson(report))["graph"]["edges"].empty());
}

TEST(ReportJson, ListsEveryCandidateOfAWorkloadOnce) {
  const ReportModel report = SampleReport();
  const nlohmann::json json = nlohmann::json::parse(ReportJson(report));
  ASSERT_EQ(json["workloads"].size(), report.workloads.size());
  for (std::size_t i = 0; i < report.layer_workloads.size(); ++i) {
    const std::optional<std::size_t> place = report.layer_workloads[i];
    ASSERT_EQ(json["layers"][i]["workload"].is_null(), !place.has_value());
    if (!place) continue;
    const nlohmann::json& workload = json["workloads"][*place];
    EXPECT_EQ(workload["config"], ConfigOf(report.graph.layers[i]));
    ASSERT_EQ(workload["candidates"].size(), report.workloads[*place].candidates.size());
    for (std::size_t c = 0; c < workload["candidates"].size(); ++c) {
      const KnownCandidate& candidate = report.workloads[*place].candidates[c];
      EXPECT_EQ(workload["candidates"][c]["name"], candidate.row.candidate.name());
      if (candidate.latency)
        EXPECT_DOUBLE_EQ(workload["candidates"][c]["latency_us"], candidate.latency->count());
      else
        EXPECT_EQ(workload["candidates"][c]["outcome"], Name(candidate.row.outcome));
    }
  }
  EXPECT_EQ(json["sources"][0]["text"], report.sources[0].text);
}

// 500 layers that have nothing in common, each with 20 candidates.
TEST(ReportJson, StaysSmallWithTenThousandCandidates) {
  constexpr std::size_t kLayers = 500;
  ReportModel report = SampleReport({4});
  report.graph.layers.erase(report.graph.layers.begin() + kLayers, report.graph.layers.end());
  report.bracket.layers.resize(kLayers);
  report.bracket.regions.clear();
  report.run.reset();
  report.workloads.clear();
  for (std::size_t i = 0; i < kLayers; ++i) {
    report.graph.layers[i].workload =
        ParseWorkload("convolution dtype=f32:f32:f32 in=1x64x56x56 out_channels=" + std::to_string(1000 + i) +
                      " kernel=1x1 stride=1x1 dilation=1x1 pad=0,0,0,0 groups=1 bias=yes weights=const")
            .value();
    report.layer_workloads[i] = i;
    WorkloadCandidates& workload = report.workloads.emplace_back();
    workload.workload = KeyOf(*report.graph.layers[i].workload);
    for (int c = 0; c < 20; ++c) {
      const double us = 100.0 / 7 * (c + 1) + static_cast<double>(i) / 3;
      KnownCandidate& candidate = workload.candidates.emplace_back();
      candidate.row.candidate = NamedCandidate("onednn/brgconv_1x1:avx512_core_" + std::to_string(c));
      candidate.row.repetitions.resize(3);
      candidate.row.numeric_error = us * 1.1e-9;
      candidate.latency = Latency(us);
      candidate.interval = Interval{Latency(us / 1.01), Latency(us * 1.013)};
    }
  }
  EXPECT_LT(ReportJson(report).size(), 2'500'000u);
  EXPECT_LT(HtmlReport(report).size(), 3'000'000u);  // with D3 and the page's own script
}

}  // namespace
}  // namespace infimum
