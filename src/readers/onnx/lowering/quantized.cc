// Operators on quantised tensors. Scales and zero points are values, not operands: they change results,
// not cost. Element-wise ones (QLinearAdd ...) are in pointwise.cc, pools in pooling.cc.
#include <vector>

#include "src/readers/onnx/lowering/attributes.h"
#include "src/readers/onnx/lowering/convolution.h"
#include "src/readers/onnx/lowering/matmul.h"
#include "src/readers/onnx/lowering/normalization.h"
#include "src/readers/onnx/lowering/operands.h"
#include "src/readers/onnx/lowering/region_builder.h"

namespace infimum::lowering {
namespace {

constexpr IntegerRange kExtent{1, kMaxAttribute};

template <PointwiseKind kKind>
Result<Lowering> Converted(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const OperandTypes types, UnaryTypes(node));
  return Measurable(Canonicalize(PointwiseConfig{kKind, types, {input}}), {0});
}

// inputs: x, its scale and zero point, w with both, y's two, bias.
constexpr ConvolutionInputs kQuantizedConvolution{0, 3, 8};

Result<Lowering> QuantizedConvolution(const NodeView& node, bool transposed) {
  INFIMUM_ASSIGN_OR_RETURN(const ConvolutionConfig config, ReadConvolution(node, kQuantizedConvolution, transposed));
  std::vector<std::size_t> operands{0, 3};
  if (config.bias) operands.push_back(8);
  return Measurable(config, std::move(operands));
}

Result<Lowering> LowerQLinearConv(const NodeView& node) { return QuantizedConvolution(node, false); }
Result<Lowering> LowerQLinearConvTranspose(const NodeView& node) { return QuantizedConvolution(node, true); }
Result<Lowering> LowerNhwcQLinearConv(const NodeView& node) { return LowerChannelsLast(node, LowerQLinearConv); }
Result<Lowering> LowerNhwcQLinearConvTranspose(const NodeView& node) {
  return LowerChannelsLast(node, LowerQLinearConvTranspose);
}
Result<Lowering> LowerMicrosoftQLinearConv(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const bool channels_last, Flag(node, "channels_last", false));
  return channels_last ? LowerNhwcQLinearConv(node) : LowerQLinearConv(node);
}

Result<Lowering> Multiplied(const NodeView& node, const Product& product) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape a, InputShape(node, product.a));
  INFIMUM_ASSIGN_OR_RETURN(const Shape b, WeightShape(node, product.b));
  Product whole = product;
  whole.b_turned = false;
  whole.b_zero_point = 5;
  RegionBuilder region(node);
  INFIMUM_RETURN_IF_ERROR(AddProduct(region, node, whole, a, b));
  return region.Finish();
}

Product WithBias(const NodeView& node, Product product, std::size_t bias) {
  if (HasInput(node, bias)) product.bias = bias;
  return product;
}

Result<Lowering> LowerQLinearMatMul(const NodeView& node) { return Multiplied(node, ProductOf(0, 3)); }

// inputs: a, b, a's scale, b's scale, their zero points, bias.
Result<Lowering> LowerMatMulIntegerToFloat(const NodeView& node) { return Multiplied(node, WithBias(node, {}, 6)); }

// Quantises a first; inputs: a, b, b's scale and zero point, bias.
Result<Lowering> LowerDynamicQuantizeMatMul(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape a, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const Shape b, InputShape(node, 1));
  INFIMUM_ASSIGN_OR_RETURN(const DataType type, InputType(node, 0));
  RegionBuilder region(node);
  INFIMUM_ASSIGN_OR_RETURN(const auto quantized,
                           region.AddPointwise(PointwiseKind::kDynamicQuantize, {type, DataType::kNone, DataType::kU8},
                                               {a}, {region.Input(0)}));
  Product product = WithBias(node, {}, 4);
  product.a_type = DataType::kU8;
  product.a_source = quantized;
  INFIMUM_RETURN_IF_ERROR(AddProduct(region, node, product, a, b));
  return region.Finish();
}

// Each block's largest number becomes its scale, by which the block is divided: numbers, and scales.
Result<Lowering> LowerQuantizeInBlocks(const NodeView& node, std::int64_t usual_block) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape input, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const DataType from, InputType(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const DataType to, OutputType(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const DataType scale, OutputType(node, 1));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t block, IntegerIn(node, "block_size", usual_block, kExtent));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t axis, IntegerIn(node, "axis", -1));
  const auto rank = static_cast<std::int64_t>(input.rank());
  if (rank == 0 || (axis != -1 && axis != rank - 1)) return Unknown("its blocks are not of the last dimension");
  if (input.dims.back() % block != 0) return Unknown("its last dimension is no multiple of its blocks");
  const std::int64_t blocks = ElementCount(input) / block;
  const DataType none = DataType::kNone;
  RegionBuilder region(node);
  const auto most = region.Add(MakeReduction(ReductionKind::kMaxAbs, {from, none, from}, Shape{{blocks, block}}, {1}),
                               {region.Input(0)});
  INFIMUM_ASSIGN_OR_RETURN(const auto scales, region.AddPointwise(PointwiseKind::kQuantize, {from, none, scale},
                                                                  {Shape{{blocks, 1}}}, {most}));
  INFIMUM_RETURN_IF_ERROR(region.AddPointwise(PointwiseKind::kDivide, {from, scale, to},
                                              {Shape{{blocks, block}}, Shape{{blocks, 1}}}, {region.Input(0), scales}));
  return region.Finish({scales});
}
Result<Lowering> LowerDynamicFloat4(const NodeView& node) { return LowerQuantizeInBlocks(node, 16); }
Result<Lowering> LowerDynamicMxFloat8(const NodeView& node) { return LowerQuantizeInBlocks(node, 32); }

// The type of weights that are packed in bytes. Without zero points the middle of their range is zero: they are signed
// numbers with another sign bit.
Result<DataType> PackedType(std::int64_t bits, bool has_zero_points) {
  if (bits == 2) return has_zero_points ? DataType::kU2 : DataType::kS2;
  if (bits == 4) return has_zero_points ? DataType::kU4 : DataType::kS4;
  if (bits == 8) return has_zero_points ? DataType::kU8 : DataType::kS8;
  return Error{"no supported element type has " + std::to_string(bits) + " bits"};
}

// A weight matrix of K x N elements that is stored packed, with scales for blocks of a column. `zero_points`: the input
// of those that may be there.
Result<Product> PackedWeights(const NodeView& node, std::size_t weights, std::optional<std::size_t> zero_points) {
  Product product = ProductOf(0, weights);
  if (!HasInput(node, weights)) return Error{"input " + std::to_string(weights) + " is missing"};
  if (zero_points && HasInput(node, *zero_points)) product.zero_points = zero_points;
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t bits, IntegerIn(node, "bits", 4, {1, 64}));
  INFIMUM_ASSIGN_OR_RETURN(product.b_type, PackedType(bits, product.zero_points.has_value()));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t block, IntegerIn(node, "block_size", 0, {0, kMaxAttribute}));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t level, IntegerIn(node, "accuracy_level", 0));
  INFIMUM_ASSIGN_OR_RETURN(const DataType input, InputType(node, 0));
  if (level == 4) product.activations = DataType::kS8;
  if (level == 3 && input == DataType::kF32) product.activations = DataType::kBF16;
  if (level == 2 && input == DataType::kF32) product.activations = DataType::kF16;
  if (block == 0 || !HasInput(node, weights + 1)) return product;
  product.scales = weights + 1;
  product.block = Shape{{block, 1}};
  if (product.zero_points) {
    INFIMUM_ASSIGN_OR_RETURN(const DataType type, InputType(node, *product.zero_points));
    if (type == DataType::kU8) product.zero_type = product.b_type;
  }
  return product;
}

Result<Lowering> PackedProduct(const NodeView& node, const Product& product, std::int64_t k, std::int64_t n) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape a, InputShape(node, 0));
  RegionBuilder region(node);
  INFIMUM_RETURN_IF_ERROR(AddProduct(region, node, product, a, Shape{{k, n}}));
  return region.Finish();
}

Result<Lowering> LowerMatMulNBits(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t k, RequiredInteger(node, "K", kExtent));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t n, RequiredInteger(node, "N", kExtent));
  INFIMUM_ASSIGN_OR_RETURN(const Product product, PackedWeights(node, 1, 3));
  return PackedProduct(node, WithBias(node, product, 5), k, n);
}

// Blocks of 4-bit codes into a table of 16 values.
Result<Lowering> LowerMatMulBnb4(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t k, RequiredInteger(node, "K", kExtent));
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t n, RequiredInteger(node, "N", kExtent));
  INFIMUM_ASSIGN_OR_RETURN(const bool transposed, Flag(node, "transB", true));
  Product product;
  product.b_type = DataType::kU4;
  return transposed ? PackedProduct(node, product, k, n) : PackedProduct(node, product, n, k);
}

Result<Lowering> LowerMatMulFpQ4(const NodeView& node) {
  const auto shape = InputValues(node, 2);
  if (!shape || shape->size() != 2) return Unknown("the shape of its packed weights is known only at run time");
  if ((*shape)[0] < 1 || (*shape)[1] < 1 || (*shape)[0] > kMaxAttribute || (*shape)[1] > kMaxAttribute)
    return Error{"the shape of its packed weights is out of range"};
  Product product;
  product.b_type = DataType::kU4;
  return PackedProduct(node, product, (*shape)[0], (*shape)[1]);
}

// RMS normalisation (of the sum with `skip`), where there is a scale, then products that share its result.
class NormalizedProducts {
 public:
  NormalizedProducts(const NodeView& node, RegionBuilder& region) : node_(node), region_(region) {}

  // inputs: a, skip, scale. The sum is an output of its own where the node asks for output `sum`.
  Status Normalize(std::size_t sum) {
    const Status read = Read();
    if (!read.ok()) return read;
    const OperandTypes plain{type_, DataType::kNone, type_};
    if (HasInput(node_, 1)) {
      const auto added = region_.AddPointwise(PointwiseKind::kAdd, {type_, type_, type_}, {a_, a_},
                                              {RegionBuilder::Input(0), RegionBuilder::Input(1)});
      if (!added.ok()) return added.error();
      value_ = *added;
      if (HasOutput(node_, sum)) leaving_.push_back(value_);
    }
    if (!HasInput(node_, 2)) return Status();
    if (a_.rank() == 0) return Error{"it normalizes a scalar"};
    const bool constant = ConstnessOf(node_, 2) == Constness::kConstant;
    const OperandTypes scaled{type_, type_, type_};
    value_ = region_.Add(
        TrailingNormalization(NormalizationKind::kRms, constant ? scaled : plain, a_, a_.rank() - 1, constant, false),
        constant ? std::vector{value_, RegionBuilder::Input(2)} : std::vector{value_});
    if (constant) return Status();
    const auto product = region_.AddPointwise(PointwiseKind::kMultiply, scaled, {a_, Shape{{a_.dims.back()}}},
                                              {value_, RegionBuilder::Input(2)});
    if (!product.ok()) return product.error();
    value_ = *product;
    return Status();
  }

  Result<RegionBuilder::Source> Project(std::size_t weights, std::size_t bias, const std::string& columns) {
    INFIMUM_ASSIGN_OR_RETURN(const std::int64_t k, RequiredInteger(node_, "K", kExtent));
    INFIMUM_ASSIGN_OR_RETURN(const std::int64_t n, RequiredInteger(node_, columns, kExtent));
    INFIMUM_ASSIGN_OR_RETURN(Product product, PackedWeights(node_, weights, std::nullopt));
    product = WithBias(node_, product, bias);
    product.a_source = value_;
    return AddProduct(region_, node_, product, a_, Shape{{k, n}}, &shape_);
  }

  const Shape& shape() const { return shape_; }  // of the last GEMM
  DataType type() const { return type_; }
  std::vector<RegionBuilder::Source>& leaving() { return leaving_; }

 private:
  Status Read() {
    const auto shape = InputShape(node_, 0);
    if (!shape.ok()) return shape.error();
    const auto type = InputType(node_, 0);
    if (!type.ok()) return type.error();
    a_ = *shape;
    type_ = *type;
    return Status();
  }

  const NodeView& node_;
  RegionBuilder& region_;
  RegionBuilder::Source value_ = RegionBuilder::Input(0);
  std::vector<RegionBuilder::Source> leaving_;
  Shape a_;
  Shape shape_;
  DataType type_ = DataType::kNone;
};

Result<Lowering> LowerMatMulNBitsQkv(const NodeView& node) {
  RegionBuilder region(node);
  NormalizedProducts products(node, region);
  INFIMUM_RETURN_IF_ERROR(products.Normalize(3));
  INFIMUM_ASSIGN_OR_RETURN(const auto q, products.Project(3, 5, "Nq"));
  INFIMUM_ASSIGN_OR_RETURN(const auto k, products.Project(6, 8, "Nkv"));
  INFIMUM_RETURN_IF_ERROR(products.Project(9, 11, "Nkv"));
  products.leaving().push_back(q);
  products.leaving().push_back(k);
  return region.Finish(products.leaving());
}

Result<Lowering> LowerMatMulNBitsMlp(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const std::string name, Text(node, "activation", "silu"));
  INFIMUM_ASSIGN_OR_RETURN(const auto activation, ActivationKind(name));
  RegionBuilder region(node);
  NormalizedProducts products(node, region);
  INFIMUM_RETURN_IF_ERROR(products.Normalize(1));
  INFIMUM_ASSIGN_OR_RETURN(auto gate, products.Project(3, 5, "N"));
  INFIMUM_ASSIGN_OR_RETURN(const auto up, products.Project(6, 8, "N"));
  const DataType type = products.type();
  const Shape shape = products.shape();
  if (activation) {
    INFIMUM_ASSIGN_OR_RETURN(gate, region.AddPointwise(*activation, {type, DataType::kNone, type}, {shape}, {gate}));
  }
  INFIMUM_RETURN_IF_ERROR(
      region.AddPointwise(PointwiseKind::kMultiply, {type, type, type}, {shape, shape}, {gate, up}));
  return region.Finish(products.leaving());
}

Result<Lowering> LowerQLinearSoftmax(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t opset, IntegerIn(node, "opset", 13));
  INFIMUM_ASSIGN_OR_RETURN(const SoftmaxConfig config, ReadSoftmax(node, SoftmaxKind::kSoftmax, opset < 13));
  return Measurable(config, {0});
}

}  // namespace

std::span<const OperatorEntry> QuantizedOperators() {
  using K = PointwiseKind;
  static constexpr OperatorEntry kEntries[] = {
      {kOnnx, "QuantizeLinear", Converted<K::kQuantize>},
      {kOnnx, "DequantizeLinear", Converted<K::kDequantize>},
      {kOnnx, "DynamicQuantizeLinear", Converted<K::kDynamicQuantize>},
      {kOnnx, "QLinearConv", LowerQLinearConv},
      {kOnnx, "QLinearMatMul", LowerQLinearMatMul},
      {kMicrosoft, "QuantizeLinear", Converted<K::kQuantize>},
      {kMicrosoft, "DequantizeLinear", Converted<K::kDequantize>},
      {kMicrosoft, "DynamicQuantizeMatMul", LowerDynamicQuantizeMatMul},
      {kMicrosoft, "MatMulBnb4", LowerMatMulBnb4},
      {kMicrosoft, "MatMulFpQ4", LowerMatMulFpQ4},
      {kMicrosoft, "MatMulIntegerToFloat", LowerMatMulIntegerToFloat},
      {kMicrosoft, "MatMulNBits", LowerMatMulNBits},
      {kMicrosoft, "MatMulNBitsMlp", LowerMatMulNBitsMlp},
      {kMicrosoft, "MatMulNBitsQkv", LowerMatMulNBitsQkv},
      {kMicrosoft, "QLinearConv", LowerMicrosoftQLinearConv},
      {kMicrosoft, "QLinearSoftmax", LowerQLinearSoftmax},
      {kTensorRt, "TRT_FP4DynamicQuantize", LowerDynamicFloat4},
      {kTensorRt, "TRT_MXFP8DynamicQuantize", LowerDynamicMxFloat8},
      {kChannelsLast, "QLinearConv", LowerNhwcQLinearConv},
      {kChannelsLast, "QLinearConvTranspose", LowerNhwcQLinearConvTranspose},
  };
  return kEntries;
}

}  // namespace infimum::lowering
