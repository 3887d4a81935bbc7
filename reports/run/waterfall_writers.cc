#include "reports/run/waterfall_writers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "infimum/base/enum_names.h"
#include "infimum/base/quantity_text.h"
#include "reports/text/fact_text.h"
#include "reports/text/terminal_text.h"

namespace infimum {
namespace {

constexpr std::size_t kStepWidth = 32, kValueWidth = 10, kLeastBar = 10;
constexpr std::ptrdiff_t kMostParts = 20;
constexpr double kNoLength = 1e-6;  // microseconds: rounding

constexpr EnumNames<MeasuredBy::kLayers> kMeasuredTitles = {"measured, end to end", "measured, under the profiler",
                                                            "measured, sum of the layers"};

class Chart {
 public:
  Chart(Latency longest, std::size_t width) : longest_(longest) {
    const std::size_t used = 2 + kStepWidth + kValueWidth + 2;
    bar_ = std::max(kLeastBar, (width == 0 ? 100 : width) - std::min(width == 0 ? 100 : width, used + 1));
  }

  void Level(std::string_view name, Latency latency) { Add(name, FormatLatency(latency), Latency(0), latency, "█"); }
  void Step(std::string_view name, Latency above, Latency latency) {
    Add("  " + std::string(name), SignedLatencyText(latency), above - latency, above, latency.count() < 0 ? "░" : "▒");
  }
  std::string text() const { return text_; }

 private:
  // A bar between two times, whichever is larger.
  void Add(std::string_view name, std::string value, Latency from, Latency to, std::string_view block) {
    std::string title = CutToWidth(Printable(name), kStepWidth);
    title.append(kStepWidth - std::min(kStepWidth, DisplayWidth(title)), ' ');
    value.insert(0, kValueWidth - std::min(kValueWidth, DisplayWidth(value)), ' ');
    const auto column = [this](Latency at) {
      const double share = longest_.count() > 0 ? std::clamp(at / longest_, 0.0, 1.0) : 0;
      return static_cast<std::size_t>(std::lround(share * static_cast<double>(bar_)));
    };
    const std::size_t begin = column(std::min(from, to)), least = std::fabs((to - from).count()) < kNoLength ? 0 : 1;
    const std::size_t end = std::max(column(std::max(from, to)), begin + least);
    std::string blocks;
    for (std::size_t i = begin; i < end; ++i) blocks += block;
    text_ += fmt::format("  {}{}", title, value);
    if (!blocks.empty()) text_ += "  " + std::string(begin, ' ') + blocks;
    text_ += '\n';
  }

  Latency longest_;
  std::size_t bar_ = 0;
  std::string text_;
};

}  // namespace

std::string_view TitleOf(GapCause cause) {
  constexpr EnumNames<GapCause::kAboveFloor> kTitles = {"host gaps",
                                                        "slower kernels than known",
                                                        "layers not fused",
                                                        "reorders, reformats, copies",
                                                        "branches one after the other",
                                                        "wider arithmetic than asked",
                                                        "unexplained",
                                                        "kernels slower in the model",
                                                        "from bound to floor"};
  return kTitles[cause];
}

std::string ScatterText(const Waterfall& waterfall) {
  if (!waterfall.DisagreesWithItself()) return "";
  return fmt::format(
      "the layers' medians and the time between them add up to {}, but the run took {}: other work probably disturbed "
      "one of the two; gains are relative to the former; measure again on a quiet machine",
      FormatLatency(waterfall.measured - waterfall.scatter), FormatLatency(waterfall.measured));
}

std::string WaterfallText(const Waterfall& waterfall, std::size_t width) {
  Latency level = waterfall.measured, longest = level;
  for (const GapStep& step : waterfall.steps) longest = std::max(longest, level -= step.latency);
  level = waterfall.measured;
  Chart chart(longest, width);
  chart.Level(kMeasuredTitles[waterfall.measured_by], level);
  for (const GapStep& step : waterfall.steps) {
    if (step.cause == GapCause::kAboveFloor && waterfall.bound)
      chart.Level("bound, " + std::string(Name(waterfall.variant)), *waterfall.bound);
    chart.Step(step.cause == GapCause::kAboveFloor && !waterfall.bound ? "layers above the floor" : TitleOf(step.cause),
               level, step.latency);
    level -= step.latency;
  }
  if (waterfall.floor.count() > 0) chart.Level("floor", waterfall.floor);
  return chart.text();
}

static void to_json(OrderedJson& json, const GapPart& part) {
  json = {{"name", part.name}, {"latency_us", part.latency}};
}

void to_json(OrderedJson& json, const GapStep& step) {
  const std::vector<GapPart> parts(step.parts.begin(),
                                   step.parts.begin() + std::min(kMostParts, std::ssize(step.parts)));
  Latency rest = step.latency;
  for (const GapPart& part : parts) rest -= part.latency;
  const std::size_t left_out = step.parts.size() - parts.size();
  json = {{"step", step.cause},
          {"title", TitleOf(step.cause)},
          {"latency_us", step.latency},
          {"count", step.parts.size()},
          {"parts", parts},
          {"rest", left_out > 0 ? OrderedJson{{"count", left_out}, {"latency_us", rest}} : OrderedJson(nullptr)}};
}

}  // namespace infimum
