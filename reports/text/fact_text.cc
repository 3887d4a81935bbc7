#include "reports/text/fact_text.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"
#include "infimum/graph/run_profile.h"
#include "reports/text/layer_words.h"

namespace infimum {
namespace {

// Three significant digits without an exponent: 1.16, 19.8, 123, 1234.
std::string ThreeDigits(double value) {
  double magnitude = std::fabs(value);
  int decimals = magnitude >= 99.95 ? 0 : magnitude >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f}", value, decimals);
}

std::string WithPrefix(double value, std::string_view unit) {
  constexpr std::array<std::string_view, 6> kPrefixes = {"", "k", "M", "G", "T", "P"};
  std::size_t step = 0;
  while (std::fabs(value) >= 999.5 && step + 1 < kPrefixes.size()) {
    value /= 1000;
    ++step;
  }
  return step == 0 ? fmt::format("{:.0f} {}", value, unit)
                   : fmt::format("{} {}{}", ThreeDigits(value), kPrefixes[step], unit);
}

}  // namespace

std::string SignedLatencyText(Latency latency) {
  std::string text = FormatLatency(latency);
  if (latency.count() > 0) text.insert(text.begin(), '+');
  return text;
}

std::string BytesText(Bytes bytes) { return WithPrefix(static_cast<double>(bytes.value), "B"); }

std::string FlopsText(Flops flops) { return WithPrefix(static_cast<double>(flops.value), "FLOP"); }

std::string RateText(double per_second, std::string_view unit) { return WithPrefix(per_second, unit); }

std::string PercentText(double share) {
  if (!std::isfinite(share)) return "-";
  double percent = share * 100;
  // A little is not nothing, and nearly all is not all.
  if (percent > 0 && percent < 0.05) return "< 0.1 %";
  if (percent < 100 && percent > 99.95) return "> 99.9 %";
  double rounded = std::round(percent * 10) / 10;
  return rounded == std::round(rounded) ? fmt::format("{:.0f} %", rounded) : fmt::format("{:.1f} %", rounded);
}

std::string CoverageText(const Coverage& coverage) {
  std::string text = fmt::format("measured {}, estimated {}, missing {}", PercentText(coverage.measured),
                                 PercentText(coverage.estimated), PercentText(coverage.missing));
  // Where both shares read the same, one says it.
  if (const std::string flops = PercentText(coverage.missing_flops);
      coverage.missing_flops > 0 && flops != PercentText(coverage.missing))
    text += fmt::format(" and with it {} of the FLOPs", flops);
  return text;
}

std::string ShareText(double time, double flops) {
  return PercentText(time) + " of the time" + (flops > 0 ? ", " + PercentText(flops) + " of the FLOPs" : "");
}

std::string LackingText(const Coverage& coverage) {
  return coverage.missing_flops > coverage.missing ? PercentText(coverage.missing_flops) + " of its work by FLOPs"
                                                   : PercentText(coverage.missing) + " of its work";
}

std::string WithInterval(Latency latency, const std::optional<Interval>& interval) {
  const std::string text = FormatLatency(latency);
  if (!interval) return text;
  return fmt::format("{}, between {} and {}", text, FormatLatency(interval->low), FormatLatency(interval->high));
}

std::string IntervalText(const Interval& interval) {
  return FormatLatency(interval.low) + " to " + FormatLatency(interval.high);
}

std::string RegretText(const AlgorithmRegret& regret) {
  const std::string over = " over " + CountText(regret.layers, "layer");
  if (!(regret.sum.count() > 0))
    return "nothing that could be told from noise (" + SignedLatencyText(regret.sum) + over + ")";
  return FormatLatency(regret.sum) + over + (regret.is_validated ? "" : ", not measured apart from noise");
}

std::string HostsText(const SeveralHosts& hosts) {
  std::string text = fmt::format(
      "The measurements come from {} machines with the same processor and libraries; the fastest rows count",
      hosts.count);
  if (!hosts.clocks_differ()) return text;
  std::vector<std::string> differences;
  if (hosts.clock_policies.size() > 1)
    differences.push_back(
        Join(std::vector<std::string>(hosts.clock_policies.begin(), hosts.clock_policies.end()), " and "));
  if (hosts.highest_clocks)
    differences.push_back(fmt::format("up to {:.0f} MHz on one and {:.0f} MHz on another",
                                      hosts.highest_clocks->low_mhz, hosts.highest_clocks->high_mhz));
  return text + fmt::format(". Their clocks differ ({}): measure with the same clocks on all of them",
                            Join(differences, ", "));
}

std::string CompositionText(const CompositionError& error) {
  return fmt::format(
      "{:.3f} times its parts alone with weights {} in the caches ({:.3f} times with all caches warm, "
      "{:.3f} with weights from memory)",
      error.value(), PercentText(error.resident_share), error.warm, error.cold_weights);
}

std::string CacheText(const std::optional<CacheState>& cache) {
  if (!cache) return "weights in context";
  return cache == CacheState::kColdWeights ? std::string(Name(cache)) : std::string(Name(cache)) + " caches";
}

std::string ShownLossText(const ModelGraph& graph, const ShownLoss& loss) {
  std::string text =
      fmt::format("layers with weights {}, changes of layout {}, other layers {}", SignedLatencyText(loss.weights),
                  SignedLatencyText(loss.reorders), SignedLatencyText(loss.others));
  std::vector<std::string> most;
  for (const ShownLoss::Part& part : loss.most)
    most.push_back(
        fmt::format("{} {} for {}",
                    part.layers.empty() ? "a change of layout" : Printable(Join(LayerNames(graph, part.layers), " + ")),
                    FormatLatency(part.shown), FormatLatency(part.known)));
  return most.empty() ? text : text + "; most: " + Join(most, ", ");
}

std::string LimitText(const UpperLimit& limit) {
  std::string text = "measured";
  if (limit.repetitions == 1) text += " in one process";
  if (limit.is_held) text += ", held to the metronome";
  return text;
}

std::string NotTriedText(const std::vector<NotTried>& kinds) {
  std::vector<std::string> texts;
  for (const NotTried& kind : kinds) texts.push_back(fmt::format("{} ({})", kind.what, kind.places));
  return Join(texts, ", ");
}

std::string ObservedText(const ModelGraph& graph, const std::vector<ObservedNode>& nodes) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> texts;
  for (const ObservedNode& node : nodes) {
    if (texts.size() == kMost) break;
    texts.push_back(fmt::format("{} {} for {} ({})", Join(LayerNames(graph, node.layers), "+"),
                                FormatLatency(node.latency), node.known ? FormatLatency(*node.known) : "no known time",
                                Printable(node.candidate.algorithm)));
  }
  return fmt::format(
      "faster in a framework, alone, than by the best known kernels: {} of layers and fused groups, {}{}", nodes.size(),
      Join(texts, ", "), nodes.size() > kMost ? " ..." : "");
}

std::string ContextText(const ModelContext& context) {
  std::string text = fmt::format("{} an inference", BytesText(Bytes{static_cast<std::int64_t>(context.working_set)}));
  if (!(context.constants > 0)) return text;
  text += fmt::format("; {} of the weights count as near", PercentText(context.near_share()));
  return context.near_share() < 1
             ? text + fmt::format(", {} were measured from memory or need not be", PercentText(context.cold_share()))
             : text;
}

std::string CountText(std::size_t count, const std::string& noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string SkippedText(double share, std::string_view whose) {
  return share > kMostSkipped
             ? fmt::format(", without about {} of the {} time, which could not be read", PercentText(share), whose)
             : "";
}

}  // namespace infimum
