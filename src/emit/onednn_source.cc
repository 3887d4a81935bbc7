#include "src/emit/onednn_source.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/emit/library_texts.h"
#include "src/emit/onednn_attributes.h"
#include "src/emit/source_text.h"

namespace infimum::emit {
namespace {

constexpr const char* kOwnKernels = "oneDNN has no primitive for it; infimum measures kernels of its own";

struct Describer {
  Result<OneDnnSource> operator()(const ConvolutionConfig& config) const { return DescribeConvolution(config, {}); }
  Result<OneDnnSource> operator()(const MatMulConfig& config) const { return DescribeMatMul(config, {}); }
  Result<OneDnnSource> operator()(const PoolingConfig& config) const { return DescribePooling(config); }
  Result<OneDnnSource> operator()(const NormalizationConfig& config) const { return DescribeNormalization(config); }
  Result<OneDnnSource> operator()(const SoftmaxConfig& config) const { return DescribeSoftmax(config); }
  Result<OneDnnSource> operator()(const PointwiseConfig& config) const { return DescribePointwise(config); }
  Result<OneDnnSource> operator()(const ReductionConfig& config) const { return DescribeReduction(config); }
  Result<OneDnnSource> operator()(const ResampleConfig& config) const { return DescribeResample(config); }
  Result<OneDnnSource> operator()(const MovementConfig& config) const { return DescribeMovement(config); }
  Result<OneDnnSource> operator()(const ReorderConfig& config) const { return DescribeReorder(config); }
  Result<OneDnnSource> operator()(const RecurrentConfig& config) const { return DescribeRecurrent(config); }
  Result<OneDnnSource> operator()(const ScanConfig&) const { return Error{kOwnKernels}; }
  Result<OneDnnSource> operator()(const SortConfig&) const { return Error{kOwnKernels}; }
  Result<OneDnnSource> operator()(const AttentionConfig&) const {
    return Error{"it runs as a oneDNN Graph partition or by kernels of infimum's own, which are not emitted"};
  }
};

// Code in one column, comments in another where they fit.
std::string Constants(const std::vector<OneDnnSource::Constant>& constants) {
  std::size_t width = 0;
  for (const OneDnnSource::Constant& constant : constants)
    if (!constant.comment.empty()) width = std::max(width, constant.code.size());
  std::string text;
  for (const OneDnnSource::Constant& constant : constants) {
    if (constant.comment.empty()) {
      text += constant.code + "\n";
    } else if (width + 5 + constant.comment.size() <= kColumns) {
      text += fmt::format("{:<{}}  // {}\n", constant.code, width, constant.comment);
    } else {
      text += Comment(constant.comment) + constant.code + "\n";
    }
  }
  return text;
}

}  // namespace

void OneDnnSource::Dims(std::string_view name, const Shape& shape, std::string_view comment) {
  constants.push_back({fmt::format("const memory::dims {}{};", name, Braced(shape)), std::string(comment)});
}

Result<OneDnnSource> Describe(const Workload& workload) {
  if (const auto* region = std::get_if<Region>(&workload)) return DescribeRegion(*region);
  return std::visit(Describer(), std::get<LayerConfig>(workload));
}

std::string Render(const OneDnnSource& source, std::string_view layer, const std::vector<std::string>& only,
                   std::string_view version) {
  std::string text = SourceOpening(layer, version, "onednn_candidates.h");
  text += "namespace {\n\nusing namespace dnnl;\nusing namespace onednn;\nusing type = memory::data_type;\n\n";
  text += LayerConstant(layer);
  text += Constants(source.constants) + "\n";
  for (const std::string& function : source.functions) text += function + "\n";
  std::vector<std::string> forms;
  for (const OneDnnSource::Form& form : source.forms)
    forms.push_back(fmt::format("{{{}, [] {{ return {}; }}}}", StringLiteral(form.pattern), form.describe));
  text += "const Registration kRegistered({\n    .text = kLayer,\n";
  text += "    .forms = {\n" + ListLines(forms) + "    },\n";
  text += "    .arguments = {\n" + ListLines(source.arguments) + "    },\n";
  text += OnlyLines(only);
  if (!source.layouts.empty()) text += fmt::format("    .layouts = {},\n", StringLiteral(source.layouts));
  if (source.signed_input) text += "    .signed_input = true,\n";
  text += "});\n\n}  // namespace\n";
  return text;
}

}  // namespace infimum::emit
