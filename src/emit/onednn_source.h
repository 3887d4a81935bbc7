// One emitted oneDNN source before it is text: what a family says about its layer, in pieces of C++.
//
//   OneDnnSource source;
//   source.Dims("kInput", {{1, 64, 56, 56}}, "batch, channels, image");
//   source.functions = {"eltwise_forward::primitive_desc Describe() {...}\n"};
//   source.forms = {{"*", "Describe()"}};
//   source.arguments = {"Input(DNNL_ARG_SRC, -1, 1)", "Output(DNNL_ARG_DST)"};
//
// What the pieces mean at run time says emitted/onednn_candidates.h, which every source includes. A family that cannot
// say it returns an error, the reason that users read: "oneDNN has no type s64".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "infimum/base/result.h"
#include "infimum/layer/workload.h"

namespace infimum::emit {

struct OneDnnSource {
  struct Constant {
    std::string code;
    std::string comment;
  };
  struct Form {
    std::string pattern;   // "*/nhwc"
    std::string describe;  // an expression
  };
  std::vector<Constant> constants;
  std::vector<std::string> functions;  // whole ones, each with its newline
  std::vector<Form> forms;             // in the order in which the runner offers them
  std::vector<std::string> arguments;
  std::string layouts = "*";
  bool signed_input = false;

  void Dims(std::string_view name, const Shape& shape, std::string_view comment = "");
};

// The families, each in a file named like it. Convolution and matmul take the element-wise members of a region.
struct PostOperation;
Result<OneDnnSource> DescribeConvolution(const ConvolutionConfig& config, const std::vector<PostOperation>& steps);
Result<OneDnnSource> DescribeMatMul(const MatMulConfig& config, const std::vector<PostOperation>& steps);
Result<OneDnnSource> DescribePooling(const PoolingConfig& config);
Result<OneDnnSource> DescribeNormalization(const NormalizationConfig& config);
Result<OneDnnSource> DescribeSoftmax(const SoftmaxConfig& config);
Result<OneDnnSource> DescribePointwise(const PointwiseConfig& config);
Result<OneDnnSource> DescribeReduction(const ReductionConfig& config);
Result<OneDnnSource> DescribeResample(const ResampleConfig& config);
Result<OneDnnSource> DescribeMovement(const MovementConfig& config);
Result<OneDnnSource> DescribeReorder(const ReorderConfig& config);
Result<OneDnnSource> DescribeRecurrent(const RecurrentConfig& config);
Result<OneDnnSource> DescribeRegion(const Region& region);

// Any of them; the error says why there can be no source.
Result<OneDnnSource> Describe(const Workload& workload);

// `only`: candidates to register; empty: all. `version` is infimum's.
std::string Render(const OneDnnSource& source, std::string_view layer, const std::vector<std::string>& only,
                   std::string_view version);

}  // namespace infimum::emit
