#include "src/app/commands/measure/brick_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "analyzer/gap/run_latency.h"
#include "infimum/base/utf8.h"
#include "infimum/measurement/statistics.h"
#include "reports/text/quantity_text.h"
#include "reports/text/section.h"
#include "src/app/processes/temporary_folder.h"
#include "src/synth/onnx_file.h"

namespace infimum {
namespace {

namespace fs = std::filesystem;

// Of all its processes' medians.
Interval IntervalOf(const RunProfile& run) {
  std::optional<Interval> all;
  for (const RunRepetition& repetition : run.end_to_end) {
    if (repetition.samples.empty()) continue;
    const Interval own = MedianInterval(repetition.samples);
    if (!all) all = own;
    all = Interval{std::min(all->low, own.low), std::max(all->high, own.high)};
  }
  return all.value_or(Interval{});
}

double ErrorOf(const ComposedTime& composed, Latency whole) { return composed.total / whole - 1; }

std::string SumText(const ComposedTime& composed) {
  std::int64_t occurrences = 0;
  for (const BrickTime& one : composed.bricks) occurrences += one.brick.count();
  std::string text = fmt::format("composed of {} ({} occurrences), each less {} for a call: {} (between {} and {})\n",
                                 CountText(composed.bricks.size(), "brick"), occurrences, FormatLatency(composed.call),
                                 FormatLatency(composed.total), FormatLatency(composed.interval.low),
                                 FormatLatency(composed.interval.high));
  if (composed.missing > 0)
    text += fmt::format("without {} that have no time: the sum is too small\n",
                        CountText(static_cast<std::size_t>(composed.missing), "occurrence"));
  const std::optional<Latency> whole = composed.whole ? EndToEndOf(*composed.whole) : std::nullopt;
  if (whole)
    text += fmt::format("the whole model: {}; composed it is {:+.1f} % off\n", FormatLatency(*whole),
                        100 * ErrorOf(composed, *whole));
  return text;
}

}  // namespace

void Compose(ComposedTime& composed) {
  Latency total = composed.call;
  double squares = 0;
  composed.missing = 0;
  for (const BrickTime& one : composed.bricks) {
    const auto count = static_cast<double>(one.brick.count());
    if (!one.latency) {
      composed.missing += one.brick.count();
      continue;
    }
    total += count * std::max(*one.latency - composed.call, Latency(0));
    squares += std::pow(count * (one.interval.high - one.interval.low).count() / 2, 2);
  }
  composed.total = total;
  const Latency half(std::sqrt(squares));
  composed.interval = {std::max(total - half, Latency(0)), total + half};
}

Result<ComposedTime> MeasureBricks(const Installation& installation, const fs::path& model,
                                   const FrameworkOptions& options, const synth::Cut& cut,
                                   const std::function<Status(RunProfile&, const fs::path&)>& keep, Talk& talk) {
  std::vector<synth::BrickSource> models;
  INFIMUM_ASSIGN_OR_RETURN(synth::BrickSource source, synth::BrickSource::Open(model, options.dims));
  models.push_back(std::move(source));
  INFIMUM_ASSIGN_OR_RETURN(std::vector<synth::Brick> bricks, CollectBricks(models, cut, {}));
  INFIMUM_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Make());
  FrameworkOptions of_brick = options;
  of_brick.layers = false;
  of_brick.dims.clear();
  of_brick.profile.clear();
  Talk silent(Loudness::kQuiet, false, [](std::string_view) {});
  talk.Say(fmt::format("measuring {} of {} in {}: {} of {:.3g} s each", CountText(bricks.size(), "brick"),
                       Printable(model.stem().string()), options.framework,
                       CountText(static_cast<std::size_t>(options.repetitions), "process"),
                       std::chrono::duration<double>(options.sampling).count()));
  // The run, or why there is none; an error where the user interrupted it.
  const auto measure = [&](const fs::path& file, const FrameworkOptions& how,
                           std::string& why_not) -> Result<std::optional<RunProfile>> {
    Result<RunProfile> run = MeasureFramework(installation, file, how, silent);
    if (!run.ok()) {
      if (run.error().message.starts_with("interrupted")) return run.error();
      why_not = run.error().message;
      return std::optional<RunProfile>();
    }
    INFIMUM_RETURN_IF_ERROR(keep(*run, file));
    if (!EndToEndOf(*run)) why_not = "noisy: " + run->noisy;
    return std::optional(std::move(*run));
  };
  ComposedTime composed;
  std::int64_t done = 0;
  const auto total = static_cast<std::int64_t>(bricks.size()) + 1;
  const auto measure_brick = [&](synth::Brick brick) -> Result<BrickTime> {
    talk.Progress("measuring " + brick.name, done++, total, std::nullopt);
    BrickTime time{std::move(brick), std::nullopt, {}, ""};
    time.why_not = time.brick.left_out;
    if (!time.why_not.empty()) return time;
    const fs::path file = folder.path() / (time.brick.name + ".onnx");
    std::ofstream(file, std::ios::binary) << time.brick.file << std::flush;
    time.brick.file.clear();
    INFIMUM_ASSIGN_OR_RETURN(const std::optional<RunProfile> run, measure(file, of_brick, time.why_not));
    if (run && time.why_not.empty()) {
      time.latency = EndToEndOf(*run);
      time.interval = IntervalOf(*run);
    }
    std::error_code ignored;
    fs::remove(file, ignored);
    return time;
  };
  synth::Net net("nothing", DataType::kF32, synth::Blocks::kUnrolled);
  net.Output("output", net.Relu(net.Input("input", {1}, DataType::kF32)));
  const fs::path nothing = folder.path() / "nothing.onnx";
  INFIMUM_RETURN_IF_ERROR(WriteOnnx(net, {}, nothing));
  std::string why_not;
  INFIMUM_ASSIGN_OR_RETURN(const std::optional<RunProfile> call, measure(nothing, of_brick, why_not));
  if (!why_not.empty()) return Error{"a model that does nothing could not be measured: " + why_not};
  composed.call = *EndToEndOf(*call);
  for (synth::Brick& brick : bricks) {
    INFIMUM_ASSIGN_OR_RETURN(BrickTime time, measure_brick(std::move(brick)));
    composed.bricks.push_back(std::move(time));
  }
  talk.Progress("measuring the whole model", done, total, std::nullopt);
  FrameworkOptions of_whole = options;
  of_whole.layers = false;
  INFIMUM_ASSIGN_OR_RETURN(composed.whole, measure(model, of_whole, composed.why_not_whole));
  talk.EndProgress();
  Compose(composed);
  return composed;
}

std::string ComposedText(const ComposedTime& composed, std::size_t width) {
  Section table;
  table.columns = {NameColumn("brick"), NumberColumn("times"), NumberColumn("one"),
                   NumberColumn("all"), NumberColumn("share"), NameColumn("first")};
  std::vector<const BrickTime*> sorted;
  for (const BrickTime& one : composed.bricks) sorted.push_back(&one);
  const auto all = [&](const BrickTime& one) {
    const Latency each = one.latency ? std::max(*one.latency - composed.call, Latency(0)) : Latency(0);
    return static_cast<double>(one.brick.count()) * each;
  };
  std::ranges::stable_sort(sorted, std::ranges::greater(), [&](const BrickTime* one) { return all(*one); });
  for (const BrickTime* one : sorted) {
    TableRow row;
    row.emplace_back(one->brick.name);
    row.emplace_back(std::to_string(one->brick.count()));
    row.emplace_back(one->latency ? FormatLatency(*one->latency) : "");
    row.emplace_back(one->latency ? FormatLatency(all(*one)) : "");
    row.emplace_back(one->latency && composed.total.count() > 0 ? PercentText(all(*one) / composed.total) : "");
    row.emplace_back(Printable(one->brick.uses.front().layers.front()));
    table.rows.push_back(std::move(row));
  }
  return SectionTable(table, width) + "\n" + SumText(composed);
}

std::string ComposedJson(const ComposedTime& composed) {
  nlohmann::ordered_json bricks = nlohmann::ordered_json::array();
  for (const BrickTime& one : composed.bricks) {
    nlohmann::ordered_json brick = {
        {"name", one.brick.name}, {"text", ValidUtf8(one.brick.text)}, {"times", one.brick.count()}};
    if (one.latency) {
      brick["latency_us"] = one.latency->count();
      brick["interval_us"] = {one.interval.low.count(), one.interval.high.count()};
    } else {
      brick["left_out"] = ValidUtf8(one.why_not);
    }
    bricks.push_back(std::move(brick));
  }
  nlohmann::ordered_json json = {{"schema", "infimum.brick-times/1"},
                                 {"call_us", composed.call.count()},
                                 {"total_us", composed.total.count()},
                                 {"interval_us", {composed.interval.low.count(), composed.interval.high.count()}},
                                 {"missing", composed.missing},
                                 {"whole_us", nullptr},
                                 {"error", nullptr},
                                 {"bricks", std::move(bricks)}};
  if (const std::optional<Latency> whole = composed.whole ? EndToEndOf(*composed.whole) : std::nullopt) {
    json["whole_us"] = whole->count();
    json["error"] = ErrorOf(composed, *whole);
  }
  return json.dump(2) + "\n";
}

}  // namespace infimum
