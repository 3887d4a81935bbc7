#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "analyzer/findings/quantized_work.h"
#include "analyzer/findings/rules.h"
#include "analyzer/findings/run_rows.h"
#include "infimum/base/quantity_text.h"
#include "src/core/graph/framework_names.h"

namespace infimum::findings {
namespace {

struct WiderRows {
  Latency gain{0};
  std::vector<std::size_t> rows;
};

WiderRows FindWiderRows(const RunFacts& facts) {
  WiderRows found;
  const GapStep* step = facts.waterfall.Find(GapCause::kPrecision);
  if (step == nullptr) return found;
  const std::vector<std::size_t> taken = RowsWithoutTensorCores(facts);
  for (const GapPart& part : step->parts) {
    const std::size_t r = part.rows.front();
    if (std::ranges::find(taken, r) != taken.end()) continue;
    found.gain += part.latency;
    found.rows.push_back(r);
  }
  // A quantized model's layers are computed wide between conversions, which no other kernel spares them: all that they
  // take above their best on 8 bits has one cause.
  if (const GapStep* slower = facts.waterfall.Find(GapCause::kAlgorithmRegret);
      slower != nullptr && facts.bracket.contract == NumericContract::kInt8) {
    for (const GapPart& part : slower->parts) {
      const std::size_t r = part.rows.front();
      if (!IsQuantizedInFloat(facts, r) || std::ranges::find(taken, r) != taken.end()) continue;
      found.gain += part.latency;
      if (std::ranges::find(found.rows, r) == found.rows.end()) found.rows.push_back(r);
    }
  }
  if (!IsWorthReporting(facts, found.gain)) found = {};
  return found;
}

// Of a quantized model it is the exporter who decides, not the engine alone.
Finding OfQuantized(const RunFacts& facts, const std::vector<std::size_t>& rows, Latency measured, Finding finding) {
  std::vector<std::size_t> of_rows, all(facts.run.layers.size());
  for (const std::size_t r : rows) {
    const std::vector<std::size_t>& layers = facts.waterfall.rows[r].engine_layers;
    of_rows.insert(of_rows.end(), layers.begin(), layers.end());
  }
  std::iota(all.begin(), all.end(), std::size_t{0});
  const QuantizedWork work = QuantizedWorkOf(facts.run, of_rows), whole = QuantizedWorkOf(facts.run, all);
  finding.kind = kQuantizedLayersInFloat;
  finding.evidence = std::to_string(rows.size()) + (rows.size() == 1 ? " row computes" : " rows compute") +
                     " in floating point on dequantized values";
  if (whole.heavy() > 0)
    finding.evidence += ", " + std::to_string(work.in_float.count()) + " of the " + std::to_string(whole.heavy()) +
                        " convolutions and matmuls among them";
  finding.evidence += ": " + FormatLatency(measured) + ", " + FormatLatency(finding.gain) +
                      " more than they would take with the best kernels on 8 bits";
  if (work.conversions.total().count() > 0)
    finding.evidence += ", including " + FormatLatency(work.conversions.total()) +
                        " of quantize/dequantize conversions (" + work.conversions.Frequencies(3) + ")";
  if (whole.of_mixed_types > 0) finding.evidence += "; " + MixedTypesText(whole);
  finding.evidence += "; " + CaseText(finding.cases.front());
  finding.action = ActionForFloatLayers(facts.run, whole);
  return finding;
}

}  // namespace

bool IsQuantizedInFloat(const RunFacts& facts, std::size_t row) {
  return facts.bracket.contract == NumericContract::kInt8 && row < facts.waterfall.is_wider.size() &&
         facts.waterfall.is_wider[row];
}

std::optional<Finding> WiderArithmetic(const RunFacts& facts, LayerClaims& claims) {
  const auto [gain, rows] = FindWiderRows(facts);
  if (rows.empty()) return std::nullopt;
  for (const std::size_t r : rows) claims.TakePrecision(facts.waterfall.rows[r].engine_layers);
  Finding finding;
  finding.kind = kWiderPrecision;
  finding.gain = gain;
  Latency measured{0};
  std::set<std::string> types;
  for (const std::size_t r : rows) {
    measured += *facts.waterfall.rows[r].measured;
    for (const std::size_t engine : facts.waterfall.rows[r].engine_layers)
      for (const ProfiledTensor& tensor : facts.run.layers[engine].input_tensors)
        if (tensor.dtype.starts_with("f") || tensor.dtype.starts_with("bf")) types.insert(tensor.dtype);
  }
  SetCases(facts, rows, finding);
  if (facts.bracket.contract == NumericContract::kInt8) return OfQuantized(facts, rows, measured, std::move(finding));
  finding.evidence =
      std::to_string(rows.size()) + (rows.size() == 1 ? " row computes" : " rows compute") + " in wider arithmetic";
  if (!types.empty()) {
    finding.evidence += " (";
    for (const std::string& type : types) finding.evidence += (finding.evidence.ends_with('(') ? "" : ", ") + type;
    finding.evidence += ")";
  }
  finding.evidence += " than the contract " + std::string(Name(facts.bracket.contract)) + " asks for, in " +
                      FormatLatency(measured) + "; " + CaseText(finding.cases.front());
  finding.action =
      facts.run.framework == framework::kOnnxRuntime && !facts.bracket.selection.device.text.starts_with("gpu")
          ? "the processor's provider has no kernels in that precision: run the model in f32 (or int8) there, or a "
            "provider that has them"
          : "let the engine compute in that precision (TensorRT: --fp16, --bf16, --int8; PyTorch: autocast or a model "
            "in that type), and check which layers keep the wide type";
  return finding;
}

}  // namespace infimum::findings
