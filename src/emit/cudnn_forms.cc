#include "src/emit/cudnn_forms.h"

#include <fmt/format.h>

#include <algorithm>

#include "infimum/base/text.h"
#include "infimum/measurement/contract.h"
#include "src/emit/source_text.h"

namespace infimum::emit {
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

std::size_t ChannelRank(const LayerConfig& config) {
  if (const auto* convolution = std::get_if<ConvolutionConfig>(&config)) return convolution->input.rank();
  if (const auto* pooling = std::get_if<PoolingConfig>(&config)) return pooling->input.rank();
  const auto* normalization = std::get_if<NormalizationConfig>(&config);
  if (normalization != nullptr && normalization->kind == NormalizationKind::kBatch) return normalization->input.rank();
  return 0;
}

}  // namespace

const LayerConfig& LeadOf(const Workload& workload) {
  if (const auto* config = std::get_if<LayerConfig>(&workload)) return *config;
  return std::get<Region>(workload).members.front().config;
}

std::string LayoutsOf(const Workload& workload, bool channels_last) {
  const LayerConfig& lead = LeadOf(workload);
  std::size_t inputs = CountInputs(workload);
  std::string order = "plain";
  if (const auto* product = std::get_if<MatMulConfig>(&lead)) {
    order = OrderName(product->a.rank(), false);
    if (product->weights == Constness::kVariable && std::holds_alternative<LayerConfig>(workload)) inputs = 2;
  } else if (const std::size_t rank = ChannelRank(lead); rank > 0) {
    order = OrderName(rank, channels_last);
  } else {
    inputs = 1;
  }
  return Join(std::vector<std::string>(inputs, order), ",") + "->" + order;
}

CudnnForms FormsOf(const Workload& workload) {
  using Form = CudnnForms::Form;
  const LayerConfig& lead = LeadOf(workload);
  const auto* convolution = std::get_if<ConvolutionConfig>(&lead);
  const auto* product = std::get_if<MatMulConfig>(&lead);
  CudnnForms result;
  std::vector<Form>& forms = result.forms;
  if (ChannelRank(lead) > 2) {
    forms.push_back({"", LayoutsOf(workload, true), "ChannelsLast"});
    forms.push_back({"", LayoutsOf(workload, false), "RowMajor"});
  } else {
    forms.push_back({"", LayoutsOf(workload, false), "RowMajor"});
    // A constant may be kept as one likes; what varies lies row by row.
    if (product != nullptr && product->weights == Constness::kConstant)
      forms.push_back({"/b=transposed", LayoutsOf(workload, false), "Transposed"});
  }
  result.layouts_vary = forms.size() > 1;
  if ((convolution != nullptr || product != nullptr) && NativeContract(workload) == NumericContract::kF16) {
    for (std::size_t i = 0, count = forms.size(); i < count; ++i) {
      forms.push_back(forms[i]);
      forms.back().suffix += "/acc=f16";
      forms.back().half_sums = true;
    }
    result.sums_vary = true;
  }
  // A layer alone: what follows in a region would have to be filled up too.
  if (convolution != nullptr && std::holds_alternative<LayerConfig>(workload) && convolution->groups == 1) {
    const int bits = BitsPerElement(convolution->types.input);
    const std::int64_t multiple = bits > 0 ? 128 / bits : 1;  // 16 bytes
    if (convolution->input.dims[1] % multiple != 0 || convolution->output_channels % multiple != 0) {
      forms.push_back({fmt::format("/pad={}", multiple), LayoutsOf(workload, true), "ChannelsLast", false, multiple});
      result.channels_vary = true;
    }
  }
  return result;
}

std::string FormText(const CudnnForms::Form& form) {
  std::string text = form.suffix.empty() ? "" : fmt::format(".suffix = {}, ", StringLiteral(form.suffix));
  text += fmt::format(".layouts = {}", StringLiteral(form.layouts));
  if (form.layout != "RowMajor") text += ", .layout = " + form.layout;
  if (form.half_sums) text += ", .sums = fe::DataType_t::HALF";
  if (form.channel_multiple > 1) text += fmt::format(", .channel_multiple = {}", form.channel_multiple);
  return "{" + text + "}";
}

}  // namespace infimum::emit
