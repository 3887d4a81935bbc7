#include "reports/model/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "analyzer/findings/rules.h"
#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"
#include "reports/model/report_commands.h"
#include "reports/model/report_forms.h"
#include "reports/run/finding_writers.h"
#include "reports/text/fact_text.h"
#include "reports/text/layer_words.h"

namespace infimum {
namespace {

// Of a bound: what is less is said to be nothing.
constexpr double kNothing = 0.001;

std::string WithShare(Latency part, Latency whole) {
  return whole.count() > 0 ? fmt::format("{} ({})", FormatLatency(part), PercentText(part / whole))
                           : FormatLatency(part);
}

const Finding* FindFinding(const ReportModel& report, std::string_view kind) {
  const auto found = std::ranges::find(report.findings, kind, &Finding::kind);
  return found != report.findings.end() ? &*found : nullptr;
}

std::string RunName(const ReportModel& report) {
  return report.run ? report.run->profile.framework + " " + report.run->profile.framework_version : "";
}

// A sentence where much has no time: an answer is then of the rest.
std::string OfWhatIsKnown(const ReportModel& report) {
  return LacksMuch(report)
             ? fmt::format(" This is of what is known: {} has no time yet.", LackingText(report.bracket.coverage))
             : "";
}

// The waterfall where it leads down to a bound: only then its steps say what could be won.
const Waterfall* Steps(const ReportModel& report) {
  return report.waterfall && report.waterfall->bound && PromisesGains(report) ? &*report.waterfall : nullptr;
}

std::string NeedsRun(const ReportModel& report) {
  return report.run ? "The run tells no layers, or no bound is known: a profiled run of a measured model answers this"
                    : "No framework's run is known of this model and device";
}

// What is not known here, and the command that finds it out.
Answer LeftTo(Answer answer, std::string text, std::string command) {
  answer.text = std::move(text);
  answer.command = std::move(command);
  return answer;
}

Answer HowFast(const ReportModel& report) {
  Answer answer{1, "How fast could this model be here, and what is left to win?", false, "", "bracket", ""};
  answer.text = Headline(report);
  const Bound* bound = report.bracket.BestKnown();
  answer.is_known = bound != nullptr;
  if (bound != nullptr)
    answer.text += bound->interval.high > bound->interval.low
                       ? fmt::format(" The bound lies within {} (95 %). {} of the work was measured.",
                                     IntervalText(bound->interval), PercentText(report.bracket.coverage.measured))
                       : fmt::format(" {} of the work was measured.", PercentText(report.bracket.coverage.measured));
  if (bound == nullptr || report.bracket.coverage.missing > 0) answer.command = AnalyzeCommand(report);
  return answer;
}

std::string_view WhatDecides(const Bound& parallel) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kReasons{
      {{"longest-path-decides", "the longest chain of layers takes this long"},
       {"core-time-decides", "all cores are busy all the time"},
       {"memory-decides", "the memory is busy all the time"},
       {"arithmetic-", "the arithmetic units are busy all the time"}}};
  for (const std::string& tag : parallel.assumptions)
    for (const auto& [start, reason] : kReasons)
      if (tag.ends_with("-decides") && tag.starts_with(start)) return reason;
  return "";
}

Answer Parallel(const ReportModel& report) {
  Answer answer{2, "Could independent layers run in parallel, and what would it win?", false, "", "wins", ""};
  const Bound* sequential = report.bracket.Find(BoundVariant::kSequential);
  const Bound* parallel = report.bracket.Find(BoundVariant::kParallel);
  if (sequential == nullptr || parallel == nullptr)
    return LeftTo(answer, "No layer has a time yet.", AnalyzeCommand(report));
  if (!PromisesGains(report))
    return LeftTo(
        answer,
        fmt::format("Too little is measured to tell: {} has no time yet.", LackingText(report.bracket.coverage)),
        AnalyzeCommand(report));
  answer.is_known = sequential->latency.count() > 0;
  if (!answer.is_known) {
    answer.text = "No layer of it takes any time.";
    return answer;
  }
  if (IsProcessor(report) && report.environment.threads == 1) {
    answer.text = "Not with one thread: layers run one after the other." + OfWhatIsKnown(report);
    answer.command = AnalyzeCommand(report);
    if (!answer.command.empty()) answer.command += " --threads 2";
    return answer;
  }
  const Latency gain = sequential->latency - parallel->latency;
  const std::string_view reason = WhatDecides(*parallel);
  if (gain > sequential->latency * kNothing) {
    answer.text = fmt::format("At most {} of the layers one after the other", WithShare(gain, sequential->latency));
  } else {
    answer.text = "No: it would win nothing";
  }
  if (!reason.empty()) answer.text += fmt::format("; {}", reason);
  answer.text += "." + OfWhatIsKnown(report);
  if (const Waterfall* steps = Steps(report); steps != nullptr && steps->Of(GapCause::kMissedParallelism).count() > 0)
    answer.text += fmt::format(" {} loses {} so.", RunName(report),
                               WithShare(steps->Of(GapCause::kMissedParallelism), steps->measured));
  return answer;
}

// The layer whose library chooses worst: " The most in Conv_7: onednn/jit where onednn/brgconv wins 90.6 us."
std::string LargestRegret(const ReportModel& report) {
  const LayerLatency* worst = nullptr;
  for (const LayerLatency& layer : report.bracket.layers)
    if (layer.choice && layer.choice->regret.count() > 0 &&
        (worst == nullptr || layer.choice->regret > worst->choice->regret))
      worst = &layer;
  if (worst == nullptr || worst->choice->candidate.name() == CandidateOf(*worst)) return "";
  return fmt::format(" The most in {}: {}, where {} wins {}.", report.graph.layer(worst->layer).name,
                     worst->choice->candidate.name(), CandidateOf(*worst), FormatLatency(worst->choice->regret));
}

Answer Algorithms(const ReportModel& report) {
  Answer answer{3,          "Does each layer run its best algorithm, and what does the library’s own choice cost?",
                false,      "",
                "findings", ""};
  if (const Waterfall* steps = Steps(report)) {
    answer.is_known = true;
    const GapStep* step = steps->Find(GapCause::kAlgorithmRegret);
    answer.text = step == nullptr || step->latency.count() <= 0
                      ? RunName(report) + " loses nothing to slower kernels than known."
                      : fmt::format("{} loses {} to kernels slower than the best known, the most in {} ({}).",
                                    RunName(report), WithShare(step->latency, steps->measured),
                                    step->parts.empty() ? std::string("no single row") : step->parts.front().name,
                                    step->parts.empty() ? "" : FormatLatency(step->parts.front().latency));
  }
  if (report.bracket.regret) {
    answer.is_known = true;
    if (!answer.text.empty()) answer.text += " ";
    answer.text +=
        fmt::format("What the libraries would choose by themselves costs {}.", RegretText(*report.bracket.regret));
    if (report.bracket.regret->sum.count() > 0) answer.text += LargestRegret(report);
  }
  if (answer.is_known) return answer;
  return LeftTo(answer, NeedsRun(report) + ", and no candidate is a library’s own choice.", RunCommand(report));
}

// What a step's parts are by what stands before their colon, the largest first: "without a bound 6.60 ms". What is a
// hundredth of the time or less is left out.
std::vector<std::string> KindsOf(const GapStep& step, Latency measured) {
  constexpr double kLeast = 0.01;
  std::map<std::string, Latency> kinds;
  for (const GapPart& part : step.parts) kinds[part.name.substr(0, part.name.find(": "))] += part.latency;
  std::vector<std::pair<std::string, Latency>> largest(kinds.begin(), kinds.end());
  std::ranges::stable_sort(largest, std::ranges::greater(),
                           [](const auto& kind) { return std::fabs(kind.second.count()); });
  std::vector<std::string> texts;
  for (const auto& [name, latency] : largest)
    if (std::fabs(latency.count()) > kLeast * measured.count())
      texts.push_back(name + " " + SignedLatencyText(latency));
  return texts;
}

Answer Waste(const ReportModel& report) {
  Answer answer{4, "Where does the framework waste time between and around the layers?", false, "", "losses", ""};
  const Waterfall* steps = Steps(report);
  if (steps == nullptr) return LeftTo(answer, NeedsRun(report) + ".", RunCommand(report));
  answer.is_known = true;
  answer.text = fmt::format("Of the {} of {}: host gaps {}, reorders and copies {}", FormatLatency(steps->measured),
                            RunName(report), WithShare(steps->Of(GapCause::kHostGaps), steps->measured),
                            WithShare(steps->Of(GapCause::kLayoutChanges), steps->measured));
  if (const Finding* needless = FindFinding(report, findings::kNeedlessLayers))
    answer.text += ", needless layers " + WithShare(needless->gain, steps->measured);
  answer.text += fmt::format("; unexplained {}", WithShare(steps->Of(GapCause::kUnexplained), steps->measured));
  if (const GapStep* unexplained = steps->Find(GapCause::kUnexplained)) {
    const std::vector<std::string> kinds = KindsOf(*unexplained, steps->measured);
    if (!kinds.empty()) answer.text += ", of it " + Join(kinds, ", ");
  }
  answer.text += ".";
  return answer;
}

Answer Fusion(const ReportModel& report) {
  Answer answer{5, "What would fusing layers win?", false, "", "wins", ""};
  const Bound* sequential = report.bracket.Find(BoundVariant::kSequential);
  const Bound* fused = report.bracket.Find(BoundVariant::kFusedSequential);
  if (sequential == nullptr || fused == nullptr || report.bracket.regions.empty())
    return LeftTo(answer, "No region of several layers was measured as one.", AnalyzeCommand(report));
  answer.is_known = true;
  answer.text = fmt::format("Kernels that were measured as one win {} over the layers one by one.{}",
                            WithShare(sequential->latency - fused->latency, fused->latency), OfWhatIsKnown(report));
  if (const Waterfall* steps = Steps(report))
    answer.text += fmt::format(" {} loses {} by layers that it does not fuse.", RunName(report),
                               WithShare(steps->Of(GapCause::kMissedFusion), steps->measured));
  return answer;
}

// What other numeric contracts win of the main bound: "bf16 wins 21.3 ms (68.6 %)".
std::vector<std::string> ContractGains(const ReportModel& report) {
  std::vector<std::string> texts;
  const Bound* main = report.bracket.BestKnown();
  constexpr std::string_view kContract = "contract:";
  for (const WhatIfOutcome& outcome : report.bracket.what_ifs) {
    if (main == nullptr || !outcome.name.starts_with(kContract)) continue;
    const std::string contract = outcome.name.substr(kContract.size());
    for (const WhatIfBound& bound : outcome.bounds) {
      if (bound.variant != main->variant || !bound.gain) continue;
      // What lacks layers that the bound has would seem to win them.
      if (outcome.coverage && outcome.coverage->missing > report.bracket.coverage.missing) {
        texts.push_back(fmt::format("{} cannot be told, {} of its work has no time", contract,
                                    PercentText(outcome.coverage->missing)));
      } else {
        texts.push_back(fmt::format("{} {} {}", contract, bound.gain->count() < 0 ? "costs" : "wins",
                                    WithShare(bound.gain->count() < 0 ? -*bound.gain : *bound.gain, main->latency)));
      }
    }
  }
  return texts;
}

// Measures under the 16-bit contract whose arithmetic is the faster one here; empty where the contract is narrow
// already.
std::string NarrowCommand(const ReportModel& report) {
  using enum NumericContract;
  constexpr std::array kNarrow{kF16, kBf16, kInt8, kFp8};
  if (std::ranges::find(kNarrow, report.bracket.contract) != kNarrow.end()) return "";
  const auto rate_of = [&report](std::string_view type) {
    const auto roof = std::ranges::find(report.arithmetic_roofs, fmt::format("{} arithmetic", type), &Roof::name);
    return roof != report.arithmetic_roofs.end() ? roof->per_second : 0;
  };
  const double half = rate_of("f16"), brain = rate_of("bf16");
  const bool is_half = half == brain ? !IsProcessor(report) : half > brain;
  const std::string contract = fmt::format("--contract {}", is_half ? "f16" : "bf16");
  return report.bench_options ? AnalyzeCommand(report, contract) : PlanCommand(report, contract);
}

Answer TensorCores(const ReportModel& report) {
  Answer answer{
      6, "Are Tensor Cores, or the narrow units of a processor, used, and what would they win?", false, "", "wins", ""};
  std::vector<std::string> parts;
  for (const std::string_view kind : {findings::kTensorCoresUnused, findings::kQuantizedLayersInFloat,
                                      findings::kWiderPrecision, findings::kHalfPrecisionNotUsed}) {
    const Finding* unused = FindFinding(report, kind);
    if (unused == nullptr) continue;
    answer.section = "findings";
    // Half precision may stay unused for want of units: then nothing could use them.
    parts.push_back(fmt::format(
        "{} ({}): {}",
        kind == findings::kHalfPrecisionNotUsed ? "The engine computes in f32" : "Not used where they could be",
        KnownGainText(*unused), unused->evidence));
  }
  if (const std::vector<std::string> gains = ContractGains(report); !gains.empty())
    parts.push_back("Against the bound of other arithmetic: " + Join(gains, ", "));
  if (parts.empty())
    return LeftTo(
        answer,
        fmt::format("Nothing was measured under another numeric contract than {}.", Name(report.bracket.contract)),
        NarrowCommand(report));
  answer.is_known = true;
  answer.text = Join(parts, ". ") + ".";
  return answer;
}

Answer OneTable(const ReportModel& report) {
  Answer answer{7, "One table per node of the model, over engines and precisions, through fusion?", false, "", "layers",
                ""};
  if (!report.run || report.run->rows.empty())
    return LeftTo(answer, NeedsRun(report) + "; this page’s table has the bound alone.", RunCommand(report));
  answer.is_known = true;
  Latency all{0}, matched{0};
  std::size_t fused = 0;
  for (const AlignedRow& row : report.run->rows) {
    all += *row.measured;
    if (row.layers.empty()) continue;
    matched += *row.measured;
    fused += row.layers.size() > 1 ? 1 : 0;
  }
  answer.text = fmt::format(
      "Of {} in the table of layers: {} rows, {} of them of several layers that it fused; {} of the layers’ time "
      "stands at nodes of the model. Several runs stand side by side in a comparison: infimum report compare MODEL "
      "--run FILE --run FILE.",
      RunName(report), report.run->rows.size(), fused, PercentText(all.count() > 0 ? matched / all : 0));
  return answer;
}

// Whose versions are worth comparing.
std::string MainLibrary(const ReportModel& report) {
  const auto& libraries = report.environment.libraries;
  for (const char* known : kComparedLibraries)
    if (libraries.contains(known)) return known;
  return libraries.empty() ? std::string(IsProcessor(report) ? kComparedLibraries.back() : kComparedLibraries.front())
                           : ShellQuoted(libraries.begin()->first);
}

// Of all layers, whatever was measured here.
std::string PlanOfAll(const ReportModel& report) {
  const std::string& contract = report.arguments.contract;
  return PlanCommand(report, contract.empty() ? "--all" : contract + " --all");
}

Answer Upgrade(const ReportModel& report) {
  Answer answer{8, "What gets slower for this model when a library goes from one version to another?", false, "", "",
                ""};
  if (report.neighbours.versions)
    return LeftTo(answer, "This report is of one set of libraries; the comparison over versions tells.",
                  CompareCommand(report, {"--by library --library " + MainLibrary(report), report.arguments.device,
                                          report.arguments.contract}));
  return LeftTo(answer,
                "The store has rows of one set of libraries alone. The plan below, measured where another version is "
                "installed and imported into this store, makes a comparison.",
                PlanOfAll(report));
}

Answer Generations(const ReportModel& report) {
  Answer answer{9, "Which generation of devices is best for this model, and why?", false, "", "", ""};
  if (report.neighbours.devices)
    return LeftTo(answer, "This report is of one device; the comparison over devices tells.",
                  CompareCommand(report, {"--by device", report.arguments.contract}));
  return LeftTo(answer,
                "The store has rows of this device alone. The plan below, measured on another one and imported into "
                "this store, makes a comparison.",
                PlanOfAll(report));
}

Answer NarrowTypes(const ReportModel& report) {
  Answer answer{10, "Why is a narrower type not faster here?", false, "", "findings", ""};
  for (const std::string_view kind :
       {findings::kLowPrecisionDoesNotPay, findings::kLowPrecisionLosses, findings::kWiderPrecision,
        findings::kHalfPrecisionNotUsed, findings::kQuantizedLayersInFloat, findings::kQuantizationConversions}) {
    const Finding* finding = FindFinding(report, kind);
    if (finding == nullptr) continue;
    answer.is_known = true;
    answer.text = finding->evidence + ".";
    return answer;
  }
  answer.section.clear();
  const std::string so_far =
      report.run ? fmt::format("This run keeps to {}; ", Name(report.bracket.contract)) : std::string();
  answer.text = so_far.empty() ? "The comparison over contracts, or of two runs, tells."
                               : so_far + "the comparison over contracts, or of two runs, tells.";
  if (report.neighbours.contracts) {
    answer.command = CompareCommand(report, {"--by contract", report.arguments.device});
  } else if (std::string command = NarrowCommand(report); !command.empty()) {
    answer.text = fmt::format(
        "{}{}othing was measured under a narrower contract yet; then the comparison over "
        "contracts, or of two runs, tells.",
        so_far, so_far.empty() ? "N" : "n");
    answer.command = std::move(command);
  }
  return answer;
}

}  // namespace

std::vector<Answer> AnswersOf(const ReportModel& report) {
  return {HowFast(report),     Parallel(report), Algorithms(report), Waste(report),       Fusion(report),
          TensorCores(report), OneTable(report), Upgrade(report),    Generations(report), NarrowTypes(report)};
}

}  // namespace infimum
