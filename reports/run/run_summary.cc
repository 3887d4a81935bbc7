#include "reports/run/run_summary.h"

#include <fmt/format.h>

#include <utility>

#include "infimum/base/quantity_text.h"
#include "infimum/base/utf8.h"
#include "reports/bound/bound_json.h"
#include "reports/run/finding_writers.h"
#include "reports/run/waterfall_writers.h"
#include "reports/text/fact_text.h"
#include "reports/text/terminal_text.h"

namespace infimum {

static void to_json(OrderedJson& json, const NodeCell& cell) {
  json = {{"bound_us", cell.best},
          {"measured_us", cell.measured},
          {"within", TextOrNull(cell.within)},
          {"engine_layers", cell.engine_layers},
          {"aligned_by", cell.clue}};
}

namespace {

// `aligned` is the share of the layers' time that stands at layers of the model.
std::string HeadlineOf(const ModelAccount& account, const RunAccount& run, double aligned) {
  constexpr double kHardly = 0.5;
  const Waterfall& waterfall = run.waterfall;
  std::string text = fmt::format("{} on {}", account.model, run.framework.empty() ? "an engine" : run.framework);
  if (!run.device.empty()) text += ", " + run.device;
  text += fmt::format(" ({}): {}", run.conditions, FormatLatency(waterfall.measured));
  text += SkippedText(run.skipped_share, "layers'");
  if (aligned < kHardly) {
    // Of another model, or other dimensions, no multiple of this one's bound means anything.
    text += fmt::format("; only {} of its layers' time could be matched with this model", PercentText(aligned));
  } else if (!run.noisy.empty()) {
    text += fmt::format("; it is noisy, and no multiple of a bound: {}", run.noisy);
  } else if (run.gap()) {
    text += fmt::format(", {:.2f} times the bound of {}", *run.gap(), FormatLatency(*waterfall.bound));
  } else if (waterfall.floor.count() > 0) {
    text += fmt::format(", {:.2f} times the floor of {}", waterfall.measured / waterfall.floor,
                        FormatLatency(waterfall.floor));
  }
  return text;
}

std::string NotesOf(const RunAccount& run, std::size_t width) {
  std::string text;
  const Waterfall& waterfall = run.waterfall;
  if (waterfall.demonstrated) {
    const Latency apart = waterfall.measured - *waterfall.demonstrated;
    const std::string shown = fmt::format(
        "demonstrated: the best candidates replayed in {}{}; kernels count {:.2f} times their time alone",
        FormatLatency(*waterfall.demonstrated),
        apart.count() < 0 ? ", which this run beats by " + FormatLatency(-apart) : "", waterfall.in_context);
    text += IndentedText("  ", shown, 4, width);
  }
  if (const GapStep* step = waterfall.Find(GapCause::kUnexplained); step != nullptr && !step->parts.empty()) {
    std::string shown = "unexplained:";
    for (std::size_t i = 0; i < std::min<std::size_t>(3, step->parts.size()); ++i)
      shown +=
          fmt::format("{} {} {}", i > 0 ? ";" : "", SignedLatencyText(step->parts[i].latency), step->parts[i].name);
    if (step->parts.size() > 3) shown += fmt::format("; and {} more", step->parts.size() - 3);
    text += IndentedText("  ", shown, 4, width);
  }
  for (const Inversion& inversion : run.inversions)
    text +=
        IndentedText("  ",
                     fmt::format("inversion: {} lies {} above {}{}", inversion.bound, FormatLatency(inversion.excess),
                                 inversion.name, inversion.is_beyond_noise ? "" : ", within the noise of both"),
                     4, width);
  for (const std::string& remark : run.remarks) text += IndentedText("  note: ", remark, 4, width);
  return text;
}

OrderedJson RunJson(const RunAccount& run, const NodeColumn& column) {
  const Waterfall& waterfall = run.waterfall;
  return {{"source", run.source},
          {"framework", run.framework},
          {"device", run.device},
          {"conditions", run.conditions},
          {"noisy", TextOrNull(run.noisy)},
          {"skipped_share", run.skipped_share},
          {"measured_us", waterfall.measured},
          {"measured_by", waterfall.measured_by},
          {"bound_us", waterfall.bound},
          {"bound", waterfall.bound ? OrderedJson(waterfall.variant) : OrderedJson(nullptr)},
          {"demonstrated_us", waterfall.demonstrated},
          {"floor_us", waterfall.floor.count() > 0 ? OrderedJson(waterfall.floor) : OrderedJson(nullptr)},
          {"gap", run.gap()},
          {"waterfall", waterfall.steps},
          {"findings", run.findings},
          {"inversions", run.inversions},
          {"critical_path", run.path},
          {"layers_us", column.measured},
          {"engine_only_us", column.engine_only},
          {"aligned_share", column.aligned_share()},
          {"unmatched_us", column.unmatched},
          {"unmatched_layers", column.not_found},
          {"remarks", run.remarks}};
}

}  // namespace

std::string AccountText(const ModelAccount& account, const AccountStyle& style) {
  std::string text;
  for (std::size_t index = 0; index < account.runs.size(); ++index) {
    const RunAccount& run = account.runs[index];
    if (!text.empty()) text += '\n';
    if (account.runs.size() > 1) text += Printable(run.source) + ":\n";
    text +=
        IndentedText("", HeadlineOf(account, run, account.nodes.columns[index].aligned_share()), 0, style.width) + '\n';
    text += WaterfallText(run.waterfall, style.width);
    const std::string notes = NotesOf(run, style.width);
    if (!notes.empty()) text += '\n' + notes;
    text += FindingsText(run.findings, {style.width, style.findings});
    if (run.path) text += '\n' + PathText(*run.path, style.width);
  }
  text += '\n' + NodeTableText(account.nodes, style.width, style.rows);
  return text + GatesText(account.gates, style.width);
}

std::string AccountJson(const ModelAccount& account) {
  OrderedJson runs = OrderedJson::array(), layers = OrderedJson::array();
  for (std::size_t i = 0; i < account.runs.size(); ++i)
    runs.push_back(RunJson(account.runs[i], account.nodes.columns[i]));
  for (const NodeRow& row : account.nodes.rows) {
    OrderedJson layer = {{"name", row.name}, {"op", row.op}};
    layer.update(OrderedJson(row.cells.front()));
    layer["runs"] = row.cells;
    layers.push_back(std::move(layer));
  }
  OrderedJson document = {{"schema", "infimum.compare/1"}, {"model", account.model}};
  const OrderedJson& first = runs.front();
  for (const char* key : {"measured_us", "bound_us", "floor_us", "gap", "waterfall", "findings"})
    document[key] = first[key];
  document["layers"] = std::move(layers);
  document["runs"] = std::move(runs);
  document["gates"] = account.gates;
  return DumpJson(document, 1) + '\n';
}

}  // namespace infimum
