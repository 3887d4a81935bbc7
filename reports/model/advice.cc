#include "reports/model/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"
#include "reports/inspect/inspect_totals.h"
#include "reports/run/waterfall_writers.h"
#include "reports/text/fact_text.h"
#include "reports/text/layer_words.h"

namespace infimum {
namespace {

// Of an interval, relative to its bound: from here on it is worth measuring again.
constexpr double kWideInterval = 0.1;

void Advise(ReportModel& report, std::string text, std::string command = "") {
  report.advice.push_back({std::move(text), std::move(command)});
}

std::string OnAllThreads(std::string_view verb, const ReportModel& report) {
  return fmt::format("infimum {} {} --threads {}", verb, report.arguments.place, report.bracket.selection.threads);
}

// What has no time, once for all layers of a configuration.
void AddMissing(ReportModel& report) {
  Latency whole{0};
  double flops = 0;
  for (const LayerLatency& latency : report.bracket.layers) {
    whole += latency.latency.value_or(latency.floor);
    flops += static_cast<double>(report.graph.layer(latency.layer).work.conventional.value);
  }
  std::map<std::string, std::pair<MissingItem, std::size_t>> by_config;
  for (const LayerLatency& latency : report.bracket.layers) {
    const Layer& layer = report.graph.layer(latency.layer);
    if (layer.status == LayerStatus::kUnknown || latency.status != LatencyStatus::kMissing) continue;
    const std::string config = ConfigOf(layer);
    auto& [item, count] = by_config[config];
    item.what = config.empty() ? layer.name : config;
    item.reason = ShownReasonOf(layer, latency);
    item.share += whole.count() > 0 ? latency.floor / whole : 0;
    item.flops += flops > 0 ? static_cast<double>(layer.work.conventional.value) / flops : 0;
    const bool here = report.bench_options.has_value() && !config.empty();
    item.command = here ? ReproductionCommand(config, *report.bench_options) : "";
    ++count;
  }
  for (auto& [config, entry] : by_config) {
    if (entry.second > 1) entry.first.reason += fmt::format(" (used {} times)", entry.second);
    report.missing.push_back(std::move(entry.first));
  }
  std::ranges::stable_sort(report.missing, [](const MissingItem& a, const MissingItem& b) {
    return std::max(a.share, a.flops) > std::max(b.share, b.flops);
  });
  if (!report.missing.empty() && !report.bench_options) {
    Advise(report,
           HasFloorsAlone(report)
               ? fmt::format("To be measured: {}. This writes the plan, to be run there; import its results",
                             CountText(report.missing.size(), "workload"))
               : std::string("Some layers were never measured on this device: run this plan there and import the "
                             "results"),
           fmt::format("infimum plan {} --device {} -o plan.txt", report.arguments.place,
                       ShellQuoted(report.device_name)));
  } else if (!report.missing.empty() && std::ranges::none_of(report.missing, [](const MissingItem& item) {
               return item.reason.starts_with(kNotMeasured);
             })) {
    Advise(report, fmt::format("Without a candidate here, and so in no bound: {} ({})",
                               CountText(report.missing.size(), "workload"), report.missing.front().reason));
  } else if (!report.missing.empty()) {
    Advise(report,
           HasFloorsAlone(report)
               ? fmt::format("To be measured: {}, by this command", CountText(report.missing.size(), "workload"))
               : std::string("Some layers are not measured yet; this command measures all of them"),
           OnAllThreads("analyze", report) + " --budget 10m");
  }
}

// In context, where too little is known of what weights from memory cost.
void AdviseOnContext(ReportModel& report) {
  constexpr double kMostlyMeasured = 0.8;
  const std::optional<ModelContext>& context = report.bracket.context;
  if (HasFloorsAlone(report) || !context || context->stays_near() || context->cold_share() >= kMostlyMeasured) return;
  Advise(report,
         fmt::format(
             "An inference leaves {} of the model’s weights ({}) near, and of {} of them it was measured what they "
             "cost from memory: what the others lose by them is taken from like layers, or not counted",
             PercentText(context->near_share()), BytesText(Bytes{static_cast<std::int64_t>(context->constants)}),
             PercentText(context->cold_share())),
         report.bench_options ? OnAllThreads("analyze", report) : std::string());
}

// Layers that were timed with warm caches, of a model whose weights do not fit them: a part of the gap is no kernel's.
void AdviseOnWeights(Bytes cache, ReportModel& report) {
  const Bytes weights = TotalsOf(report.graph).parameter_bytes;
  const Bound* bound = report.bracket.BestKnown();
  if (!report.run || bound == nullptr || report.bracket.selection.cache != CacheState::kWarm || cache.value <= 0 ||
      weights <= cache)
    return;
  std::string text = fmt::format(
      "The model’s weights ({}) do not fit the caches ({}), and each layer was timed with its own in them: a "
      "part of what the run takes above the bound is fetching weights, and no kernel’s fault",
      BytesText(weights), BytesText(cache));
  if (!report.bandwidth_roofs.empty() && report.bandwidth_roofs.front().per_second > 0)
    text += fmt::format(
        ", {} at the memory’s best rate",
        FormatLatency(Latency(static_cast<double>(weights.value) / report.bandwidth_roofs.front().per_second * 1e6)));
  const auto cold = std::ranges::find(report.bracket.what_ifs, "cache:cold-weights", &WhatIfOutcome::name);
  if (cold != report.bracket.what_ifs.end())
    for (const WhatIfBound& of : cold->bounds)
      if (of.variant == bound->variant)
        text += fmt::format("; with weights from memory the bound is {}", FormatLatency(of.latency));
  Advise(report, text,
         cold == report.bracket.what_ifs.end() && report.bench_options
             ? fmt::format("infimum analyze {} --cache cold-weights", report.arguments.model)
             : std::string());
}

void AddAdvice(const std::vector<std::string>& warnings, ReportModel& report) {
  const bool here = report.bench_options.has_value();
  for (const std::string& warning : warnings) Advise(report, warning);
  if (report.bracket.hosts) Advise(report, HostsText(*report.bracket.hosts));
  const Bound* bound = report.bracket.BestKnown();
  if (bound != nullptr && report.bracket.coverage.missing == 0 && report.bracket.coverage.measured > 0 &&
      bound->latency < report.bracket.dense_read().latency) {
    Advise(report,
           "The bound lies below the dense-read floor: its layers were timed with warm caches, but all of the "
           "model's weights together do not fit them");
  }
  if (here && bound != nullptr && bound->latency > Latency(0) &&
      (bound->interval.high - bound->interval.low) / bound->latency > kWideInterval) {
    Advise(
        report,
        "The bound's interval is wide, as where other work disturbed the measuring; this measures again what decides "
        "it",
        OnAllThreads("confirm", report));
  }
  if (bound != nullptr && std::ranges::find(bound->assumptions, "least-loop-iterations") != bound->assumptions.end()) {
    Advise(report,
           "A loop whose iterations are not known counts as few as possible, perhaps none: what its "
           "body takes is left out of floor and bound");
  }
  for (const Inversion& inversion : report.bracket.inversions) {
    if (inversion.bound != kFloorName) continue;
    Advise(report,
           fmt::format("The floor is {} above {}, which happened: it is wrong here. It was decided by {}; `infimum "
                       "analyze` measures rates again and keeps the best",
                       FormatLatency(inversion.excess), inversion.name, report.bracket.dense_read().decided_by));
  }
  if (!report.run) return;
  if (bound != nullptr && bound->latency > report.run->latency) {
    Advise(report,
           fmt::format(
               "Inversion: the {} bound is above {}'s own time. It fuses layers that this bound counts one by one, or "
               "has kernels that are not among the candidates; the bound is an estimate, the floor is not.",
               Name(bound->variant), report.run->profile.framework));
  }
  if (report.waterfall) {
    if (std::string text = ScatterText(*report.waterfall); !text.empty())
      Advise(report, "Times that do not fit together: " + text, here ? OnAllThreads("measure", report) : std::string());
  }
  if (report.run->interval && here && report.run->latency.count() > 0 &&
      (report.run->interval->high - report.run->interval->low) / report.run->latency > kWideInterval)
    Advise(report,
           fmt::format("The run’s interval, {}, is wide for {} of it: more of them narrow what could be won",
                       IntervalText(*report.run->interval),
                       CountText(static_cast<std::size_t>(report.run->repetitions), "repetition")),
           OnAllThreads("measure", report) + " --repetitions 10");
  if (report.run->minimum.count() > 0 && report.run->median / report.run->minimum > 1.1) {
    Advise(report,
           "The framework's run was noisy (median over 10 % above the minimum): close other programs and measure again",
           OnAllThreads("measure", report));
  }
}

}  // namespace

void FillAdvice(const std::vector<std::string>& warnings, Bytes last_level_cache, ReportModel& report) {
  AddMissing(report);
  AdviseOnContext(report);
  AdviseOnWeights(last_level_cache, report);
  AddAdvice(warnings, report);
  if (report.bracket.BestKnown() != nullptr && !report.bracket.not_tried.empty())
    Advise(report, "Not tried, so that a run may be faster than the best known kernels: " +
                       NotTriedText(report.bracket.not_tried));
}

}  // namespace infimum
