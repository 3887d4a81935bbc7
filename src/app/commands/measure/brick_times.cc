#include "src/app/commands/measure/brick_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>

#include "analyzer/gap/run_latency.h"
#include "infimum/base/file_text.h"
#include "infimum/base/quantity_text.h"
#include "infimum/base/sha256.h"
#include "infimum/base/utf8.h"
#include "infimum/measurement/statistics.h"
#include "reports/inspect/inspect_totals.h"
#include "reports/text/fact_text.h"
#include "reports/text/section.h"
#include "src/app/processes/temporary_folder.h"
#include "src/readers/onnx/read_model.h"
#include "src/synth/onnx_file.h"

namespace infimum {
namespace {

namespace fs = std::filesystem;

// Of ten models in blocks of 20 layers the ninth smallest error of composing: the conformal interval for 80 %.
constexpr double kComposing = 0.09;
// Fewer operations for each byte of weights, and reading them decides: decoding steps and nets on few rows were
// composed 30 to 64 % too low at 8 and less; the ten models of kComposing have 28 and more.
constexpr double kLeastOperationsOfAByte = 16;

// Bricks that go through the same processes, which starting them costs once.
constexpr std::size_t kInTurn = 24;

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

// Whether a run counts as if it had been made now, as `now` was of another model.
bool IsAlike(const RunProfile& before, const RunProfile& now) {
  const auto settings = [](const RunProfile& run) {
    std::map<std::string, std::string> all = run.settings;
    for (const char* of_the_model : {"outputs", "cell"}) all.erase(of_the_model);
    return all;
  };
  return before.framework_version == now.framework_version && settings(before) == settings(now) &&
         before.end_to_end.size() >= now.end_to_end.size();
}

double ErrorOf(const ComposedTime& composed, Latency whole) { return composed.total / whole - 1; }

std::string SumText(const ComposedTime& composed) {
  std::int64_t occurrences = 0;
  for (const BrickTime& one : composed.bricks) occurrences += one.brick.count();
  std::string text = fmt::format("composed of {} ({} occurrences), each less {} for a call: {}",
                                 CountText(composed.bricks.size(), "brick"), occurrences, FormatLatency(composed.call),
                                 FormatLatency(composed.total));
  text += composed.weights_decide ? ", without an interval\n"
                                  : fmt::format(" (80 %: between {} and {})\n", FormatLatency(composed.interval.low),
                                                FormatLatency(composed.interval.high));
  if (composed.missing > 0)
    text += fmt::format("without {} that have no time: the sum is too small\n",
                        CountText(static_cast<std::size_t>(composed.missing), "occurrence"));
  if (composed.weights_decide)
    text += "too low where the whole's weights do not stay in caches, as each brick's do: few operations use each\n";
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
  squares += std::pow(kComposing * total.count(), 2);
  const Latency half(std::sqrt(squares));
  composed.interval = {std::max(total - half, Latency(0)), total + half};
}

Result<ComposedTime> MeasureBricks(const Installation& installation, const fs::path& model,
                                   const FrameworkOptions& options, const synth::Cut& cut, const BrickRuns& runs,
                                   ProgressLog& log) {
  std::vector<synth::BrickSource> models;
  INFIMUM_ASSIGN_OR_RETURN(synth::BrickSource source, synth::BrickSource::Open(model, options.dims));
  models.push_back(std::move(source));
  // Without names, so that what is alike in several models is one file.
  synth::BrickOptions nameless;
  nameless.anonymize = true;
  INFIMUM_ASSIGN_OR_RETURN(std::vector<synth::Brick> bricks, CollectBricks(models, cut, nameless));
  INFIMUM_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Make());
  ComposedTime composed;
  const InspectTotals totals = TotalsOf(models.front().graph());
  composed.weights_decide = static_cast<double>(totals.conventional_flops.value) <
                            kLeastOperationsOfAByte * static_cast<double>(totals.parameter_bytes.value);
  FrameworkOptions of_whole = options;
  of_whole.layers = false;
  ProgressLog silent(Loudness::kQuiet, false, [](std::string_view) {});
  Result<RunProfile> whole = MeasureFramework(installation, model, of_whole, silent);
  if (whole.ok()) {
    if (!EndToEndOf(*whole)) composed.why_not_whole = "noisy: " + whole->noisy;
    composed.whole = *std::move(whole);
  } else {
    if (whole.error().message.starts_with("interrupted")) return whole.error();
    composed.why_not_whole = whole.error().message;
  }

  // Behind the bricks a model that does nothing, which is what a call costs.
  synth::Net net("nothing", DataType::kF32, synth::Blocks::kUnrolled);
  net.Output("output", net.Relu(net.Input("input", {1}, DataType::kF32)));
  bricks.emplace_back().name = "nothing";
  INFIMUM_RETURN_IF_ERROR(WriteOnnx(net, {}, folder.path() / "nothing.onnx"));
  INFIMUM_ASSIGN_OR_RETURN(bricks.back().file, ReadFile(folder.path() / "nothing.onnx"));

  const auto take = [](const RunProfile& run, BrickTime& time) {
    time.latency = EndToEndOf(run);
    if (time.latency) time.interval = IntervalOf(run);
    if (!time.latency) time.why_not = "noisy: " + run.noisy;
    time.run = run;
  };
  std::vector<fs::path> files;
  std::vector<std::size_t> measured;  // of each file
  for (std::size_t i = 0; i < bricks.size(); ++i) {
    const std::string content = std::move(bricks[i].file);
    BrickTime& time = composed.bricks.emplace_back(BrickTime{bricks[i], std::nullopt, {}, bricks[i].left_out});
    if (!time.why_not.empty()) continue;
    INFIMUM_ASSIGN_OR_RETURN(const std::optional<RunProfile> before,
                             runs.find(Sha256(std::as_bytes(std::span(content)))));
    if (before && composed.whole && IsAlike(*before, *composed.whole) && EndToEndOf(*before)) {
      take(*before, time);
      if (i + 1 < bricks.size()) ++composed.known;
      continue;
    }
    files.push_back(folder.path() / (bricks[i].name + ".onnx"));
    measured.push_back(i);
    INFIMUM_RETURN_IF_ERROR(WriteFile(files.back(), content));
  }
  log.Say(fmt::format("{} of {}, {} of them measured before; the others in {}: {} x {:.3g} s for each",
                      CountText(bricks.size() - 1, "brick"), Printable(ModelName(model)), composed.known,
                      options.framework, options.repetitions, std::chrono::duration<double>(options.sampling).count()));
  FrameworkOptions of_brick = options;
  of_brick.layers = false;
  of_brick.dims.clear();
  // Kept turn by turn, so that little is lost where it is interrupted.
  for (std::size_t begin = 0; begin < files.size(); begin += kInTurn) {
    const std::size_t end = std::min(begin + kInTurn, files.size());
    INFIMUM_ASSIGN_OR_RETURN(const std::vector<Result<RunProfile>> found,
                             MeasureInTurn(installation,
                                           {files.begin() + static_cast<std::ptrdiff_t>(begin),
                                            files.begin() + static_cast<std::ptrdiff_t>(end)},
                                           of_brick, log));
    for (std::size_t i = begin; i < end; ++i) {
      BrickTime& time = composed.bricks[measured[i]];
      if (const Result<RunProfile>& one = found[i - begin]; one.ok()) {
        RunProfile run = *one;
        INFIMUM_RETURN_IF_ERROR(runs.keep(run, files[i]));
        take(run, time);
      } else {
        time.why_not = one.error().message;
      }
    }
  }
  const BrickTime call = std::move(composed.bricks.back());
  composed.bricks.pop_back();
  if (!call.latency) return Error{"a model that does nothing could not be measured: " + call.why_not};
  composed.call = *call.latency;
  Compose(composed);
  return composed;
}

std::vector<Measurement> ObservedRows(const ComposedTime& composed, const std::string& measured_at) {
  std::vector<Measurement> rows;
  for (const BrickTime& one : composed.bricks) {
    const Result<Workload> workload = ParseWorkload(one.brick.text);
    if (!one.latency || !workload.ok()) continue;
    Measurement row;
    row.workload = KeyOf(*workload);
    row.candidate = {std::string(kObservedLibrary), one.run.framework + "-" + one.run.framework_version, "any", "any",
                     false};
    row.contract = NativeContract(*workload);
    row.measured_at = measured_at;
    for (const RunRepetition& process : one.run.end_to_end) {
      if (process.samples.empty()) continue;
      std::vector<Latency> samples = process.samples;
      for (Latency& sample : samples) sample = std::max(sample - composed.call, Latency(0));
      row.repetitions.push_back(Summarize(samples));
      row.repetitions.back().beat = process.beat;
    }
    // What takes no longer than the call itself has no time that could be told from it.
    const auto is_told = [](const Repetition& repetition) { return repetition.median > Latency(0); };
    if (!row.repetitions.empty() && std::ranges::all_of(row.repetitions, is_told)) rows.push_back(std::move(row));
  }
  return rows;
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
  nlohmann::ordered_json json = {
      {"schema", "infimum.brick-times/1"},
      {"call_us", composed.call.count()},
      {"total_us", composed.total.count()},
      {"interval_us", composed.weights_decide
                          ? nlohmann::ordered_json()
                          : nlohmann::ordered_json{composed.interval.low.count(), composed.interval.high.count()}},
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
