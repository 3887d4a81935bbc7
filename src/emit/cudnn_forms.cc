#include "src/emit/cudnn_forms.h"

#include <fmt/format.h>

#include "src/core/measurement/cudnn_form.h"
#include "src/emit/source_text.h"

namespace infimum::emit {

CudnnForms FormsOf(const Workload& workload) {
  const bool is_product = std::holds_alternative<MatMulConfig>(cuda::LeadOf(workload));
  CudnnForms result;
  for (const cuda::CudnnForm& form : cuda::FormsOf(workload, NativeContract(workload), CandidateTier::kEngine)) {
    const char* const last = is_product ? "Transposed" : "ChannelsLast";
    result.forms.push_back({cuda::Suffix(workload, form),
                            cuda::InputLayouts(workload, form) + "->" + cuda::OutputLayout(workload, form),
                            form.channels_last ? last : "RowMajor", form.half_sums, form.channel_multiple});
  }
  for (const CudnnForms::Form& form : result.forms) {
    result.layouts_vary |= form.layout != result.forms[0].layout;
    result.sums_vary |= form.half_sums;
    result.channels_vary |= form.channel_multiple > 1;
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
