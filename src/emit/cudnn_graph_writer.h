// Writes the function that builds a workload's graph with NVIDIA's frontend, statement by statement.
//
//   CudnnGraphWriter writer(region, forms);
//   writer.AddMembers();     each family in cudnn_products.cc and cudnn_layers.cc
//   writer.Text()            Arguments BuildGraph(fe::graph::Graph& graph, const Form& form) {
//                              const Dims in0_dims{1, 64, 56, 56};
//                              const TensorPointer in0 = graph.tensor(...);
//                              ...
//                              return {.inputs = {{in0}, {w0}}, .outputs = {y0}};
//                            }
//
// Operands are named as the region's text has them, in0 ... and w0 ..., the result of member 0 is y0. Tensors between
// members are virtual. Shapes that canonical texts merged are spread over the dimensions of the tensor that they meet.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "infimum/layer/region.h"
#include "src/emit/cudnn_forms.h"
#include "src/emit/value_range.h"

namespace infimum::emit {

// A tensor of the graph.
struct CudnnTensor {
  std::string name;    // of the variable
  Shape shape;         // as cuDNN has it
  std::string layout;  // the function that makes its strides: "form.layout"
};

class CudnnGraphWriter {
 public:
  // Both live longer.
  CudnnGraphWriter(const Region& region, const CudnnForms& forms);

  // The error says what cuDNN's graph cannot say.
  Status AddMembers();
  std::string Text() const;

  // The member's operand `index`, with this shape and layout where it comes from outside. `dims`: as C++, where a form
  // changes them.
  Result<CudnnTensor> Operand(std::size_t index, const Shape& shape, std::string_view layout,
                              std::optional<Range> range = std::nullopt, const std::string& dims = "");
  // An operand of the workload's own making: a scale of 8-bit results.
  CudnnTensor Scale(std::size_t rank);

  // `graph.<call>(arguments, attributes.link.link)` as a variable of the member's: y0, then y0_1 ...
  std::string Call(std::string_view call, const std::vector<std::string>& arguments, std::string_view attributes,
                   const std::vector<std::string>& links, std::string_view behind = "");
  // Its dimensions and strides; `dims` as above.
  void Place(const CudnnTensor& tensor, const std::string& dims = "");
  // cuDNN's mode on two tensors; the result's shape is the first's.
  CudnnTensor Combined(const CudnnTensor& first, const CudnnTensor& second, std::string_view mode);
  void Line(std::string_view text);

  // Whether operand `index` of the member at hand was made by another member, and that one's tensor.
  const CudnnTensor* MadeOperand(std::size_t index) const;
  const CudnnForms& forms() const { return forms_; }
  // What tensors with channels are laid out by: the form's function where forms differ.
  std::string FormLayout() const;
  std::string Sums(DataType input) const;
  bool has_channels() const { return has_channels_; }
  bool has_rows() const { return has_rows_; }
  // In which dimensions the member at hand sees its elements; `own` where nothing but itself decides that.
  const Shape& SeenAs(const Shape& own) const { return shapes_[member_].rank() > 0 ? shapes_[member_] : own; }

 private:
  const Region& region_;
  const CudnnForms& forms_;
  std::vector<Shape> shapes_;  // cuda::MemberShapes
  bool has_channels_ = false, has_rows_ = false;
  std::size_t member_ = 0;
  std::size_t names_ = 0;  // that the member has used
  std::vector<CudnnTensor> made_;
  std::map<RegionOperand, CudnnTensor> outside_;
  std::vector<std::string> inputs_, outputs_;
  std::string body_;
};

// One for each family; the result is the member's. What the graph has no operation for is an error.
Result<CudnnTensor> AddToGraph(const ConvolutionConfig& config, CudnnGraphWriter& writer);
Result<CudnnTensor> AddToGraph(const MatMulConfig& config, CudnnGraphWriter& writer);
Result<CudnnTensor> AddToGraph(const PointwiseConfig& config, CudnnGraphWriter& writer);
Result<CudnnTensor> AddToGraph(const ReductionConfig& config, CudnnGraphWriter& writer);
Result<CudnnTensor> AddToGraph(const PoolingConfig& config, CudnnGraphWriter& writer);
Result<CudnnTensor> AddToGraph(const NormalizationConfig& config, CudnnGraphWriter& writer);
Result<CudnnTensor> AddToGraph(const AttentionConfig& config, CudnnGraphWriter& writer);

}  // namespace infimum::emit
