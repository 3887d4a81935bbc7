#include "reports/model/layers_view.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/gap/run_latency.h"
#include "infimum/measurement/statistics.h"

namespace infimum {

LayersView ViewOf(const RunProfile& run, std::string source) {
  LayersView view;
  view.source = std::move(source);
  view.framework = run.framework + (run.framework_version.empty() ? "" : " " + run.framework_version);
  view.findings = FindingsOf(run);
  view.skipped_share = run.skipped_share;
  view.noisy = run.noisy;
  view.remarks = run.warnings;
  view.end_to_end = EndToEndOf(run);
  std::map<std::string, EngineOperatorRow> operators;
  for (const ProfiledLayer& layer : run.layers) {
    LayerRow row;
    row.name = layer.name;
    row.op = layer.op;
    row.algorithm = layer.algorithm;
    row.nodes = layer.nodes;
    row.samples = static_cast<std::int64_t>(layer.samples.size());
    EngineOperatorRow& operation = operators[layer.op];
    operation.op = layer.op;
    ++operation.layers;
    if (!layer.samples.empty()) {
      row.median = Quantile(layer.samples, 0.5);
      const auto [least, most] = std::minmax_element(layer.samples.begin(), layer.samples.end());
      row.least = *least;
      row.most = *most;
      for (const Latency sample : layer.samples) row.total += sample;
      operation.time += *row.median;
      view.layers_time += *row.median;
    }
    view.layers.push_back(std::move(row));
  }
  for (auto& [op, row] : operators) view.operators.push_back(std::move(row));
  std::stable_sort(view.operators.begin(), view.operators.end(),
                   [](const EngineOperatorRow& a, const EngineOperatorRow& b) { return a.time > b.time; });
  return view;
}

}  // namespace infimum
