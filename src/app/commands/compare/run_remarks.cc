#include "src/app/commands/compare/run_remarks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "infimum/base/quantity_text.h"
#include "infimum/db/store.h"
#include "reports/run/waterfall_writers.h"
#include "reports/text/fact_text.h"
#include "src/app/model_report/run_gap.h"
#include "src/app/models/run_conditions.h"

namespace infimum {
namespace {

// Below this the model is probably not the one that ran, or not in these shapes.
constexpr double kLeastAlignedShare = 0.9;

void AddDifference(std::string text, ComparedRun& compared) {
  compared.remarks.push_back(text);
  compared.differences.push_back(std::move(text));
}

// The command that would make the bound, or make it better.
std::string AnalyzeCommand(const RunComparisonOptions& options, const ComparedModel& model,
                           const Selection& selection) {
  std::string command = "infimum analyze " + options.model.string();
  for (const auto& [name, extent] : model.dims) command += fmt::format(" --dim {}={}", name, extent);
  if (options.database != "infimum.db") command += " --db " + ShownAddress(options.database);
  if (selection.threads != 1) command += fmt::format(" --threads {}", selection.threads);
  if (selection.contract) command += fmt::format(" --contract {}", Name(*selection.contract));
  return command;
}

// More of the time at layers of other sizes, and it is another model's: one with a stride elsewhere has few such
// layers.
constexpr double kMostConflicting = 0.02;

double ElementsOf(const std::vector<std::int64_t>& dims) {
  double count = 1;
  for (const std::int64_t extent : dims) count *= static_cast<double>(extent);
  return count;
}

// Of the time of rows that tell what they make: of those that make nothing of the size of any output of their layers.
// A layout in blocks fills channels up.
double ConflictingShare(const ModelGraph& graph, const RunProfile& run, const Alignment& alignment) {
  constexpr double kFilledUp = 2;
  Latency told{0}, conflicting{0};
  for (const AlignedRow& row : alignment.rows) {
    if (row.layers.empty() || !row.measured || row.inside_body) continue;
    bool tells = false, fits = false;
    for (const std::size_t engine : row.engine_layers) {
      for (const ProfiledTensor& made : run.layers[engine].output_tensors) {
        for (const LayerId layer : row.layers) {
          for (const std::optional<ValueId>& output : graph.layer(layer).outputs) {
            if (!output || !graph.value(*output).shape) continue;
            tells = true;
            const double ratio = ElementsOf(made.dims) / ElementsOf(graph.value(*output).shape->dims);
            fits = fits || (ratio > 1 / kFilledUp && ratio < kFilledUp);
          }
        }
      }
    }
    if (!tells) continue;
    told += *row.measured;
    if (!fits) conflicting += *row.measured;
  }
  return told.count() > 0 ? conflicting / told : 0;
}

}  // namespace

void TellDifferences(ComparedRun& compared) {
  const RunProfile& run = compared.run;
  if (compared.is_of_another_file)
    AddDifference(
        "the run is of another file than this model, by its SHA-256: its layers are matched by their names and shapes",
        compared);
  if (compared.device.kind != DeviceKind::kGpu) {
    const std::int64_t threads = compared.selection.threads;
    if (!run.threads) {
      compared.threads_are_assumed = true;
      compared.remarks.push_back(
          fmt::format("the profile does not record its number of threads: assuming {}; --threads N overrides it",
                      CountText(static_cast<std::size_t>(threads), "thread")));
    } else if (*run.threads != threads) {
      AddDifference(fmt::format("the run had {}, and --threads asks for the bound of {}",
                                CountText(static_cast<std::size_t>(*run.threads), "thread"), threads),
                    compared);
    }
  }
  if (!run.contract.empty() && run.contract != Name(compared.bracket.contract)) {
    std::string text = fmt::format("the run computes under the contract {}, the bound is under {}", run.contract,
                                   Name(compared.bracket.contract));
    if (Keeps(run.contract, compared.bracket.contract)) {
      compared.remarks.push_back(std::move(text));  // a stricter run can only be slower
    } else {
      AddDifference(std::move(text), compared);
    }
  }
}

void TellWhatIsMissing(const RunComparisonOptions& options, const ComparedModel& model, ComparedRun& compared) {
  const Bracket& bracket = compared.bracket;
  const bool is_here = options.device.empty() && compared.device.kind == DeviceKind::kCpu;
  const std::string how =
      is_here
          ? "`" + AnalyzeCommand(options, model, compared.selection) + "` measures it"
          : fmt::format("`infimum plan {} -o plan.txt` writes what to run there, `infimum import` takes the results",
                        options.model.string());
  if (bracket.coverage.measured <= 0) {
    compared.lacking = "no bound yet: no layer was measured on this device; " + how;
  } else if (bracket.coverage.missing > 0) {
    const auto missing = std::ranges::count(bracket.layers, LatencyStatus::kMissing, &LayerLatency::status);
    compared.lacking = fmt::format(
        "{} of {} layers were not measured ({:.1f} % of the time by their floors): the bound lacks them; {}", missing,
        bracket.layers.size(), 100 * bracket.coverage.missing, how);
  }
  if (!compared.lacking.empty()) compared.remarks.push_back(compared.lacking);
}

void TellNarrowerTypes(ComparedRun& compared) {
  AddDifference(fmt::format("the run does not record its contract, and its layers compute in narrower types than the "
                            "bound's ({}): --contract chooses another",
                            Name(compared.bracket.contract)),
                compared);
}

void TellPoorAlignment(const ComparedModel& model, ComparedRun& compared) {
  const Alignment& alignment = compared.alignment;
  const ModelGraph& graph = model.graph;
  if (compared.run.shapes_vary)
    AddDifference("the run mixes input shapes, so its times are of no single workload", compared);
  if (alignment.scale) compared.differences.emplace_back("it ran with other dimensions");
  if (const double share = ConflictingShare(graph, compared.run, alignment);
      !alignment.scale && share > kMostConflicting)
    AddDifference(fmt::format("layers with {} of the matched time make tensors of other sizes than this model's of the "
                              "same name: it is of another model, or other dimensions",
                              PercentText(share)),
                  compared);
  if (compared.waterfall.floor.count() > 0 && compared.waterfall.measured < compared.waterfall.floor)
    compared.remarks.push_back(fmt::format(
        "it takes {}, less than a program that reads every weight once ({}): other dimensions or another device, or "
        "weights that the engine skips, compresses or keeps once",
        FormatLatency(compared.waterfall.measured), FormatLatency(compared.waterfall.floor)));
  compared.remarks.insert(compared.remarks.end(), alignment.remarks.begin(), alignment.remarks.end());
  const Latency meant = alignment.measured - alignment.own;
  // Of another file it is said that its layers are matched as well as they can be.
  if (compared.is_of_another_file || !alignment.remarks.empty() || meant.count() <= 0 ||
      alignment.unmatched < meant * (1 - kLeastAlignedShare))
    return;
  std::string text = fmt::format(
      "only {:.0f} % of the layers' time could be matched with this model: is it the one that ran, "
      "with these dimensions?",
      100 * (1 - alignment.unmatched / meant));
  if (!graph.inputs.empty() && graph.value(graph.inputs.front()).shape)
    text += " Its input is " + Format(*graph.value(graph.inputs.front()).shape);
  const auto first = std::ranges::find_if(compared.run.layers, [](const ProfiledLayer& layer) {
    return !layer.input_tensors.empty() && layer.input_tensors.front().dims.size() > 1;
  });
  if (first != compared.run.layers.end()) {
    const std::vector<std::int64_t>& dims = first->input_tensors.front().dims;
    text += fmt::format(", the run's first layer with shapes, {}, reads {}", first->name, fmt::join(dims, "x"));
  }
  compared.remarks.push_back(std::move(text));
}

void TellScatter(ComparedRun& compared) {
  if (std::string text = ScatterText(compared.waterfall); !text.empty()) compared.remarks.push_back(std::move(text));
}

}  // namespace infimum
