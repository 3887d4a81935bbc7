#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>
#include <variant>

#include "analyzer/findings/rules.h"
#include "analyzer/findings/run_rows.h"
#include "analyzer/gap/precision.h"
#include "infimum/base/quantity_text.h"

namespace infimum::findings {
namespace {

constexpr std::string_view kCapability = "compute_capability=";

// 90 of ".../compute_capability=9.0/...", 0 where the device reports none.
int CapabilityOf(std::string_view device) {
  const std::size_t at = device.find(kCapability);
  if (at == std::string_view::npos) return 0;
  const std::string_view text = device.substr(at + kCapability.size());
  int major = 0, minor = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), major);
  if (error != std::errc() || end == text.data() + text.size() || *end != '.') return 0;
  std::from_chars(end + 1, text.data() + text.size(), minor);
  return major * 10 + minor;
}

// The first architecture whose Tensor Cores multiply in it (CUDA C++ Programming Guide, "Element Types and Matrix
// Sizes"); 0: none does.
int LeastCapability(NumericContract contract) {
  // By contract: strict-f32, tf32, f16, bf16, int8, fp8.
  constexpr int kCapabilities[] = {0, 80, 70, 80, 72, 89};
  return kCapabilities[static_cast<std::size_t>(contract)];
}

// Channels of what is multiplied, whose multiples libraries' kernels for Tensor Cores want (16 bytes: 8 of f16, 16 of
// s8, 4 of tf32); empty where the workload is neither.
std::vector<std::int64_t> ContractedSizes(const Layer& layer) {
  const auto* config = layer.workload ? std::get_if<LayerConfig>(&*layer.workload) : nullptr;
  if (config == nullptr) return {};
  if (const auto* convolution = std::get_if<ConvolutionConfig>(config)) {
    const std::int64_t groups = std::max<std::int64_t>(convolution->groups, 1);
    return {convolution->input.dims[1] / groups, convolution->output_channels / groups};
  }
  if (const auto* product = std::get_if<MatMulConfig>(config)) return {product->a.dims.back(), product->b.dims.back()};
  return {};
}

std::int64_t MultipleWanted(NumericContract contract) { return 16 / static_cast<std::int64_t>(WidthOf(contract)); }

bool Contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace

std::optional<bool> UsesTensorCores(std::string_view kernel) {
  // int8x4 are Volta's four byte products in one instruction (DP4A), on the plain cores. Tiles of the instructions
  // (884, 1688, 8816, 16816, ...) and the words that cuDNN, cuBLAS, CUTLASS and TensorRT write.
  constexpr std::array kWith = {"884",     "1688",     "16816", "16832",     "8816",   "hmma",
                                "imma",    "tensorop", "wgmma", "gmma",      "f16f16", "bf16bf16",
                                "tf32f32", "i8i8",     "e4m3",  "flash_fwd", "fmha",   "tcgen05"};
  constexpr std::array kWithout = {"int8x4", "sgemm", "hgemm", "dgemm",     "scudnn",
                                   "ffma",   "simt",  "gemv",  "depthwise", "fft2d"};
  std::string name(kernel);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (std::ranges::any_of(kWithout, [&name](const char* part) { return Contains(name, part); })) return false;
  if (std::ranges::any_of(kWith, [&name](const char* part) { return Contains(name, part); })) return true;
  return std::nullopt;
}

std::vector<std::size_t> RowsWithoutTensorCores(const RunFacts& facts) {
  std::vector<std::size_t> rows;
  const int least = LeastCapability(facts.bracket.contract);
  const int capability = CapabilityOf(facts.bracket.selection.device.text);
  if (least == 0 || capability < least || !facts.waterfall.bound) return rows;
  for (std::size_t r = 0; r < facts.waterfall.rows.size(); ++r) {
    const ComparedRow& row = facts.waterfall.rows[r];
    if (row.layers.empty() || !row.measured || !row.best) continue;
    // Values of a wider type are the cause then, and reported as such. TF32 is in no type: it has to be allowed.
    if (facts.waterfall.is_wider[r] && facts.bracket.contract != NumericContract::kTf32) continue;
    const Layer& main = facts.graph.layer(MainLayer(facts.graph, row.layers));
    if (ContractedSizes(main).empty() || UsesTensorCores(EngineName(facts, row)) != false) continue;
    if (*row.measured > *row.best * facts.waterfall.in_context) rows.push_back(r);
  }
  return rows;
}

std::vector<Finding> TensorCoresUnused(const RunFacts& facts, const LayerClaims&) {
  const std::vector<std::size_t> rows = RowsWithoutTensorCores(facts);
  if (rows.empty()) return {};
  Finding finding;
  finding.kind = kTensorCoresUnused;
  Latency measured{0};
  std::map<std::int64_t, std::size_t> odd;  // sizes that are no multiple of what kernels want
  const std::int64_t wanted = MultipleWanted(facts.bracket.contract);
  std::size_t eligible = 0;
  for (const std::size_t r : rows) {
    const ComparedRow& row = facts.waterfall.rows[r];
    measured += *row.measured;
    finding.gain += *row.measured - *row.best * facts.waterfall.in_context;
    bool is_eligible = true;
    for (const std::int64_t size : ContractedSizes(facts.graph.layer(MainLayer(facts.graph, row.layers)))) {
      if (size % wanted == 0) continue;
      ++odd[size];
      is_eligible = false;
    }
    eligible += is_eligible ? 1 : 0;
  }
  if (!IsWorthReporting(facts, finding.gain)) return {};
  SetCases(facts, rows, finding);
  finding.evidence = std::to_string(rows.size()) +
                     (rows.size() == 1 ? " convolution or matmul runs" : " convolutions and matmuls run") +
                     " on kernels that do not use the Tensor Cores, in " + FormatLatency(measured) + "; " +
                     std::to_string(eligible) + " of them are eligible as they are (contract " +
                     std::string(Name(facts.bracket.contract)) + ", channels that are multiples of " +
                     std::to_string(wanted) + ")";
  if (!odd.empty()) {
    finding.evidence += ", the others have channels of";
    std::size_t shown = 0;
    for (const auto& [size, count] : odd) {
      if (++shown > 4) break;
      finding.evidence += (shown > 1 ? ", " : " ") + std::to_string(size);
    }
  }
  finding.evidence += "; " + CaseText(finding.cases.front());
  if (facts.bracket.contract == NumericContract::kTf32) {
    finding.action =
        "allow TF32 (PyTorch: torch.backends.cuda.matmul.allow_tf32 and torch.backends.cudnn.allow_tf32; ONNX "
        "Runtime: use_tf32=1 of the CUDA provider; TensorRT has it on)";
  } else {
    finding.action = "keep values in " + std::string(Name(facts.bracket.contract)) +
                     " up to these layers and in the channels-last layout";
  }
  if (!odd.empty()) finding.action += "; pad channels to a multiple of " + std::to_string(wanted);
  return {std::move(finding)};
}

}  // namespace infimum::findings
