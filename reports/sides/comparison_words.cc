#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "analyzer/findings/rules.h"
#include "infimum/base/enum_names.h"
#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"
#include "reports/run/finding_writers.h"
#include "reports/sides/comparison_report.h"
#include "reports/text/fact_text.h"

namespace infimum {
namespace {

constexpr EnumNames<ComparisonAxis::kChange> kAxes = {"device",    "library",   "contract",
                                                      "framework", "precision", "change"};

// Beyond these percents are hard to read.
constexpr double kLeastAsPercent = 0.5, kMostAsPercent = 2;

// "+10.3", "-0.8", "0.0".
std::string PercentMore(double ratio) {
  const double tenths = std::round(1000 * (ratio - 1));
  return tenths == 0 ? "0.0" : fmt::format("{:+.1f}", tenths / 10);
}

std::string ModelsText(const ComparisonReport& report) {
  const std::vector<ModelTotal>& models = report.comparison.models;
  if (models.size() > 3) return CountText(models.size(), "model");
  std::string text;
  for (std::size_t i = 0; i < models.size(); ++i)
    text += (i == 0 ? "" : i + 1 == models.size() ? " and " : ", ") + models[i].name;
  return text;
}

std::string NounOf(ComparisonAxis axis) {
  switch (axis) {
    case ComparisonAxis::kDevice:
      return "device";
    case ComparisonAxis::kLibrary:
      return "version";
    case ComparisonAxis::kContract:
      return "contract";
    default:
      return "run";
  }
}

std::string TotalText(const ComparisonReport& report, std::size_t side) {
  const std::vector<ModelTotal>& models = report.comparison.models;
  if (models.size() != 1 || !models.front().times[side].latency) return "";
  return FormatLatency(*models.front().times[side].latency);
}

// "7 layers take 32.0 µs longer in all, what is no layer of the model 1.99 ms", of one side.
std::string RegressionsText(const ComparisonReport& report, std::size_t side) {
  std::size_t layers = 0;
  Latency cost{0}, beside{0};
  for (const LayerDifference& entry : report.comparison.regressions) {
    if (entry.side != side) continue;
    const SetLayer& layer = report.comparison.layers[entry.layer];
    (layer.is_of_model ? cost : beside) += entry.cost;
    if (layer.is_of_model) layers += layer.uses.size();
  }
  std::string text = layers == 0 ? "no layer takes longer beyond noise"
                                 : fmt::format("{} {} {} longer in all", CountText(layers, "layer"),
                                               layers == 1 ? "takes" : "take", FormatLatency(cost));
  if (beside.count() > 0)
    text += fmt::format(", what is no layer of the model {}", FormatLatency(beside) + (layers == 0 ? " longer" : ""));
  return text;
}

// In a sentence, where no sign is explained.
std::string WithSpread(const Difference& difference) {
  std::string text = DifferenceText(difference);
  if (!difference.is_spread_known) text.replace(text.size() - kNoSpread.size(), kNoSpread.size(), " (no spread known)");
  return text;
}

// "5.43 times as fast as", "10.3 % slower than", "within noise of": before the name of the other.
std::string InWords(const Difference& difference) {
  if (difference.verdict == Verdict::kSame) return "within noise of";
  if (difference.ratio > kMostAsPercent) return fmt::format("{:.3g} times as long as", difference.ratio);
  if (difference.ratio < kLeastAsPercent) return fmt::format("{:.3g} times as fast as", 1 / difference.ratio);
  const double percent = std::abs(std::round(1000 * (difference.ratio - 1)) / 10);
  return fmt::format("{:.1f} % {} time than", percent, difference.ratio < 1 ? "less" : "more");
}

// "takes 21.0 % more time than cudnn 7.5.0", "is within noise of cudnn 7.5.0".
std::string VersusBaseline(const ComparisonReport& report, std::size_t side) {
  const std::optional<Difference>& mean = report.comparison.means[side];
  const std::string& baseline = report.sides.front().label;
  if (!mean) return "cannot be held against " + baseline;
  const std::string words = InWords(*mean);
  const std::string_view verb = mean->verdict == Verdict::kSame ? "is" : words.ends_with("fast as") ? "is" : "takes";
  return fmt::format("{} {} {}", verb, words, baseline);
}

// One side against the baseline.
std::string PairText(const ComparisonReport& report, std::size_t side) {
  const std::string &label = report.sides[side].label, &baseline = report.sides.front().label;
  const std::optional<Difference>& mean = report.comparison.means[side];
  if (!mean)
    return fmt::format("{}: {} cannot be held against {}, of which no layer is known on both", ModelsText(report),
                       label, baseline);
  std::string how;
  switch (mean->verdict) {
    case Verdict::kSame:
      how = "is within noise of";
      break;
    case Verdict::kFaster:
      how = "is faster than";
      break;
    case Verdict::kSlower:
      how = "is slower than";
      break;
    case Verdict::kUndecided:
      how = "cannot be told from";
      break;
  }
  std::string text = fmt::format("{}: {} {} {}: {}", ModelsText(report), label, how, baseline, WithSpread(*mean));
  if (const std::string now = TotalText(report, side); !now.empty())
    text += fmt::format(", {} against {}", now, TotalText(report, 0));
  return text + "; " + RegressionsText(report, side) + ".";
}

// A sentence where sides know much that is not compared, since not all of them know it.
std::string OfWhatIsCommon(const ComparisonReport& report) {
  constexpr double kMost = 0.9;
  double least = 1;
  std::size_t layers = 0, common = 0;
  for (const ModelTotal& model : report.comparison.models) {
    for (const double share : model.shares) least = std::min(least, share);
    layers += model.layers;
    common += model.common;
  }
  return least < kMost ? fmt::format(" Only {} of {} are compared, which all sides know: of what one of them knows {}.",
                                     common, CountText(layers, "layer"), PercentText(least))
                       : "";
}

// "118 of 216 layers compute in f32": what stands before the numbers of an evidence.
std::string FirstClause(const std::string& evidence) {
  return evidence.substr(0, std::min({evidence.find("; "), evidence.find(": "), evidence.size()}));
}

// What keeps a narrower type from paying: other findings are of every run.
bool IsOfPrecision(std::string_view kind) {
  constexpr std::array<std::string_view, 4> kKinds{findings::kHalfPrecisionNotUsed, findings::kQuantizedLayersInFloat,
                                                   findings::kQuantizationConversions, findings::kWiderPrecision};
  return std::ranges::find(kKinds, kind) != kKinds.end();
}

// Whether each of the other precisions pays, and what is behind it where one of its findings tells.
std::string WhyPrecisions(const ComparisonReport& report) {
  const SideComparison& comparison = report.comparison;
  std::string text;
  for (std::size_t side = 1; side < comparison.sides; ++side) {
    const std::optional<Difference>& mean = comparison.means[side];
    if (!mean) continue;
    const bool pays = mean->verdict == Verdict::kFaster;
    const bool is_open = mean->verdict == Verdict::kUndecided;
    text += fmt::format(" {} {}: {}", report.sides[side].label,
                        pays      ? "pays"
                        : is_open ? "cannot be told from " + report.sides.front().label
                                  : "does not pay",
                        WithSpread(*mean));
    const std::vector<Finding>& findings = report.sides[side].findings;
    const auto cause = std::ranges::find_if(
        findings, [](const Finding& finding) { return IsOfPrecision(finding.kind) && finding.gain.count() > 0; });
    if (cause != findings.end())
      text += fmt::format("; {}, {} to win by changing that ({})", FirstClause(cause->evidence), GainText(*cause),
                          Name(cause->known));
    text += '.';
  }
  return text;
}

}  // namespace

std::string_view Name(ComparisonAxis axis) { return kAxes[axis]; }

std::optional<ComparisonAxis> FindComparisonAxis(std::string_view name) { return kAxes.Find(name); }

bool IsOfRuns(ComparisonAxis axis) {
  return axis == ComparisonAxis::kFramework || axis == ComparisonAxis::kPrecision || axis == ComparisonAxis::kChange;
}

std::string ComparisonTitle(const ComparisonReport& report) {
  return fmt::format("{} by {}", ModelsText(report), Name(report.axis));
}

std::string ComparisonHeadline(const ComparisonReport& report) {
  const SideComparison& comparison = report.comparison;
  if (!report.no_verdict.empty())
    return fmt::format("{}: no verdict: {}", ModelsText(report), Join(report.no_verdict, "; "));
  if (comparison.sides == 2) return PairText(report, 1) + OfWhatIsCommon(report);
  if (comparison.order.size() < 2)
    return fmt::format("{}: no two of {} know a layer in common", ModelsText(report),
                       CountText(comparison.sides, NounOf(report.axis)));
  const std::size_t best = comparison.order.front(), next = comparison.order[1];
  std::string text = fmt::format("{}: of {} {} is the fastest", ModelsText(report),
                                 CountText(comparison.sides, NounOf(report.axis)), report.sides[best].label);
  if (const std::string total = TotalText(report, best); !total.empty()) text += " with " + total;
  const std::optional<Difference>& mean = comparison.means[best];
  if (mean) text += fmt::format(", {} {}", InWords(*mean), report.sides.front().label);
  const double ahead = next == 0 ? 1 : comparison.means[next]->ratio, own = best == 0 ? 1 : mean->ratio;
  text += "; then " + report.sides[next].label;
  // Of one model the time says it: a second ratio on another basis would be read as the first one's.
  if (const std::string total = TotalText(report, next); !total.empty()) {
    text += " with " + total;
  } else {
    text += ahead / own < kMostAsPercent ? fmt::format(", {:.1f} % behind", 100 * (ahead / own - 1))
                                         : fmt::format(", {:.3g} times as long", ahead / own);
  }
  if (ahead / own <= 1 + comparison.threshold) text += ", which is within noise";
  text += '.' + OfWhatIsCommon(report);
  if (report.axis == ComparisonAxis::kPrecision) return text + WhyPrecisions(report);
  if (report.axis != ComparisonAxis::kDevice)
    return text + fmt::format(" {} {}: {}.", report.sides.back().label, VersusBaseline(report, comparison.sides - 1),
                              RegressionsText(report, comparison.sides - 1));
  if (comparison.rank_changes.empty()) return text;
  const RankChange& change = comparison.rank_changes.front();
  return text + fmt::format(" {} is faster than {} in all, yet loses {} to it in {} of {}.",
                            report.sides[change.faster].label, report.sides[change.slower].label,
                            FormatLatency(change.lost), CountText(change.layers, "layer"), change.name);
}

std::string DataAsOf(const ComparisonReport& report) {
  return report.data_as_of.empty() ? "" : "Data of " + report.data_as_of;
}

std::string DifferenceText(const Difference& difference) {
  const RatioInterval& between = difference.between;
  std::string text, spread;
  if (difference.ratio >= kLeastAsPercent && difference.ratio <= kMostAsPercent) {
    text = PercentMore(difference.ratio) + " %";
    spread = fmt::format("{} to {} %", PercentMore(between.low), PercentMore(between.high));
  } else if (difference.ratio > 1) {
    text = fmt::format("{:.3g} times as long", difference.ratio);
    spread = fmt::format("{:.3g} to {:.3g}", between.low, between.high);
  } else {
    text = fmt::format("{:.3g} times as fast", 1 / difference.ratio);
    spread = fmt::format("{:.3g} to {:.3g}", 1 / between.high, 1 / between.low);
  }
  return text + (difference.is_spread_known ? " (" + spread + ")" : std::string(kNoSpread));
}

std::string VerdictText(const Difference& difference) {
  return difference.verdict == Verdict::kSame ? "within noise" : std::string(Name(difference.verdict));
}

}  // namespace infimum
