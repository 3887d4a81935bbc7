#include "analyzer/gap/precision.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "infimum/measurement/statistics.h"

namespace infimum {
namespace {

std::size_t WidthOf(std::string_view dtype) {
  if (dtype == "f64") return 8;
  if (dtype == "f32" || dtype == "s32") return 4;
  if (dtype == "f16" || dtype == "bf16") return 2;
  if (dtype == "s8" || dtype == "u8" || dtype.starts_with("f8")) return 1;
  return 0;
}

Latency TimeOf(const ProfiledLayer& layer) { return layer.samples.empty() ? Latency(0) : Quantile(layer.samples, 0.5); }

}  // namespace

const ProfiledLayer* LongestLayer(const RunProfile& run, const std::vector<std::size_t>& engine_layers) {
  const ProfiledLayer* longest = nullptr;
  for (const std::size_t index : engine_layers)
    if (longest == nullptr || TimeOf(run.layers[index]) > TimeOf(*longest)) longest = &run.layers[index];
  return longest;
}

std::size_t WidthOf(NumericContract contract) {
  // By contract: strict-f32, tf32, f16, bf16, int8, fp8.
  constexpr std::size_t kBytes[] = {4, 4, 2, 2, 1, 1};
  return kBytes[static_cast<std::size_t>(contract)];
}

std::size_t ComputedWidth(const RunProfile& run, const std::vector<std::size_t>& engine_layers) {
  // The others of a row may be casts.
  std::size_t read = 0;
  if (const ProfiledLayer* main = LongestLayer(run, engine_layers)) {
    for (const ProfiledTensor& tensor : main->input_tensors) {
      const std::size_t width = WidthOf(tensor.dtype);
      if (width > 0) read = read == 0 ? width : std::min(read, width);
    }
  }
  return read;
}

bool ComputesWider(const RunProfile& run, const std::vector<std::size_t>& engine_layers, const Layer& layer,
                   NumericContract contract) {
  if (!layer.workload) return false;
  const std::size_t own = WidthOf(NativeContract(*layer.workload));
  const std::size_t read = ComputedWidth(run, engine_layers);
  if (read > 0) {
    if (read != own) return read > own;
    // TF32 shows in no type: only the run's contract shows it.
    return contract == NumericContract::kTf32 && run.contract == Name(NumericContract::kStrictF32);
  }
  const std::optional<NumericContract> kept = FindContract(run.contract);
  if (!kept) return false;
  if (WidthOf(*kept) != WidthOf(contract)) return WidthOf(*kept) > WidthOf(contract);
  return *kept == NumericContract::kStrictF32 && contract == NumericContract::kTf32;
}

std::size_t ComputedWidth(const RunProfile& run, const std::vector<ComparedRow>& rows) {
  std::map<std::size_t, Latency> times;
  for (const ComparedRow& row : rows)
    if (!row.layers.empty() && row.measured)
      if (const std::size_t width = ComputedWidth(run, row.engine_layers); width > 0) times[width] += *row.measured;
  const auto longest =
      std::ranges::max_element(times, [](const auto& a, const auto& b) { return a.second < b.second; });
  return longest == times.end() ? 0 : longest->first;
}

std::size_t WidthOf(const RunProfile& run, const std::vector<ComparedRow>& rows) {
  if (const std::optional<NumericContract> contract = FindContract(run.contract)) return WidthOf(*contract);
  return ComputedWidth(run, rows);
}

bool IsNarrower(const RunProfile& run, const std::vector<ComparedRow>& rows, NumericContract contract) {
  const std::size_t computed = run.contract.empty() ? WidthOf(run, rows) : 0;
  return computed > 0 && computed < WidthOf(contract);
}

}  // namespace infimum
