#include "src/core/measurement/cudnn_form.h"

#include <algorithm>

namespace infimum::cuda {
namespace {

// Letters of a tensor with channels: a batch, b channels, c, d, e space.
std::string OrderName(std::size_t rank, bool channels_last) {
  std::string letters;
  for (std::size_t i = 0; i < rank; ++i) letters.push_back(static_cast<char>('a' + i));
  if (channels_last && rank > 2) std::rotate(letters.begin() + 1, letters.begin() + 2, letters.end());
  return letters;
}

// Operands from outside that vary: one name for each.
std::size_t CountInputs(const Workload& workload) {
  const auto* region = std::get_if<Region>(&workload);
  if (region == nullptr) return 1;
  std::int64_t last = 0;
  for (const RegionMember& member : region->members)
    for (const RegionOperand& operand : member.operands)
      if (operand.source == RegionOperand::Source::kInput) last = std::max(last, operand.index);
  return static_cast<std::size_t>(last) + 1;
}

std::string Repeated(const std::string& name, std::size_t count) {
  std::string names = name;
  for (std::size_t i = 1; i < count; ++i) names += "," + name;
  return names;
}

std::size_t ChannelRank(const LayerConfig& config) {
  if (const auto* convolution = std::get_if<ConvolutionConfig>(&config)) return convolution->input.rank();
  if (const auto* pooling = std::get_if<PoolingConfig>(&config)) return pooling->input.rank();
  if (const auto* resample = std::get_if<ResampleConfig>(&config)) return resample->input.rank();
  const auto* normalization = std::get_if<NormalizationConfig>(&config);
  if (normalization != nullptr && normalization->kind == NormalizationKind::kBatch) return normalization->input.rank();
  return 0;
}

}  // namespace

const LayerConfig& LeadOf(const Workload& workload) {
  if (const auto* config = std::get_if<LayerConfig>(&workload)) return *config;
  return std::get<Region>(workload).members.front().config;
}

std::string PointwiseRefusal(PointwiseKind kind) {
  switch (kind) {
    case PointwiseKind::kAnd:
    case PointwiseKind::kOr:
    case PointwiseKind::kNot:
    case PointwiseKind::kEqual:
    case PointwiseKind::kGreater:
    case PointwiseKind::kGreaterOrEqual:
    case PointwiseKind::kLess:
    case PointwiseKind::kLessOrEqual:
    case PointwiseKind::kWhere:
      return "cuDNN's graph has logic, comparisons and selections, but tensors of truth values are left to kernels of "
             "infimum's own";
    default:
      return "cuDNN's graph has no such element-wise operation";
  }
}

std::vector<CudnnForm> FormsOf(const Workload& workload, NumericContract contract, CandidateTier tier) {
  const LayerConfig& lead = LeadOf(workload);
  const auto* convolution = std::get_if<ConvolutionConfig>(&lead);
  const auto* product = std::get_if<MatMulConfig>(&lead);
  const bool has_channels = ChannelRank(lead) > 2;
  std::vector<CudnnForm> forms{{has_channels, false, 1}};
  if (tier == CandidateTier::kHeuristic) return forms;
  if (has_channels || (product != nullptr && product->weights == Constness::kConstant))
    forms.push_back({!forms[0].channels_last, false, 1});
  // f16 sums are of f16 products: integers are added up in 32 bits, f32 and bf16 in f32.
  const bool has_half_operands = TypesOf(lead).input == DataType::kF16 && TypesOf(lead).weights == DataType::kF16;
  if ((convolution != nullptr || product != nullptr) && has_half_operands && contract == NumericContract::kF16) {
    for (std::size_t i = 0, count = forms.size(); i < count; ++i) {
      forms.push_back(forms[i]);
      forms.back().half_sums = true;
    }
  }
  // A layer alone: what follows in a region would have to be filled up too.
  if (convolution != nullptr && std::holds_alternative<LayerConfig>(workload) && convolution->groups == 1) {
    const int bits = BitsPerElement(convolution->types.input);
    const std::int64_t multiple = bits > 0 ? 128 / bits : 1;  // 16 bytes
    const bool fits = convolution->input.dims[1] % multiple == 0 && convolution->output_channels % multiple == 0;
    if (!fits) forms.push_back({true, false, multiple});
  }
  return forms;
}

std::string Suffix(const Workload& workload, const CudnnForm& form) {
  // Where channels lie is told by the layouts.
  const bool is_transposed = form.channels_last && std::holds_alternative<MatMulConfig>(LeadOf(workload));
  std::string suffix = is_transposed ? "/b=transposed" : "";
  if (form.half_sums) suffix += "/acc=f16";
  if (form.channel_multiple > 1) suffix += "/pad=" + std::to_string(form.channel_multiple);
  return suffix;
}

std::string InputLayouts(const Workload& workload, const CudnnForm& form) {
  const LayerConfig& lead = LeadOf(workload);
  const std::size_t inputs = CountInputs(workload);
  if (const auto* product = std::get_if<MatMulConfig>(&lead)) {
    const bool two_vary = product->weights == Constness::kVariable && std::holds_alternative<LayerConfig>(workload);
    return Repeated(OrderName(product->a.rank(), false), two_vary ? 2 : inputs);
  }
  const std::size_t rank = ChannelRank(lead);
  return rank == 0 ? "plain" : Repeated(OrderName(rank, form.channels_last), inputs);
}

std::string OutputLayout(const Workload& workload, const CudnnForm& form) {
  const LayerConfig& lead = LeadOf(workload);
  if (const auto* product = std::get_if<MatMulConfig>(&lead)) return OrderName(product->a.rank(), false);
  const std::size_t rank = ChannelRank(lead);
  return rank == 0 ? "plain" : OrderName(rank, form.channels_last);
}

}  // namespace infimum::cuda
