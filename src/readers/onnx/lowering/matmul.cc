#include "src/readers/onnx/lowering/matmul.h"

#include <algorithm>
#include <vector>

#include "src/readers/onnx/lowering/attributes.h"
#include "src/readers/onnx/lowering/convolution.h"
#include "src/readers/onnx/lowering/operands.h"

namespace infimum::lowering {
namespace {

// The shape of NumPy's matmul, vectors included.
Result<Shape> ProductShape(Shape a, Shape b) {
  if (a.rank() == 0 || b.rank() == 0) return Error{"MatMul does not take a scalar"};
  const bool row = a.rank() == 1;
  const bool column = b.rank() == 1;
  if (row) a.dims.insert(a.dims.begin(), 1);
  if (column) b.dims.push_back(1);
  const std::int64_t m = a.dims[a.rank() - 2];
  const std::int64_t n = b.dims.back();
  if (a.dims.back() != b.dims[b.rank() - 2])
    return Error{"a matmul of " + Format(a) + " and " + Format(b) + ": the inner dimensions differ"};
  a.dims.resize(a.rank() - 2);
  b.dims.resize(b.rank() - 2);
  INFIMUM_ASSIGN_OR_RETURN(Shape result, Broadcast(a, b));
  if (!row) result.dims.push_back(m);
  if (!column) result.dims.push_back(n);
  INFIMUM_RETURN_IF_ERROR(CheckedElementCount(result));
  return result;
}

// Whether the zeros of a constant b are those of the two that Sparse Tensor Cores leave out of each four.
Sparsity SparsityOf(const NodeView& node, const Product& product, const MatMulConfig& config) {
  const OperandView* b = node.input(product.b);
  if (b == nullptr || !product.b_turned || product.zero_points || config.weights != Constness::kConstant ||
      BitsPerElement(config.types.weights) < 8 || config.b.dims[config.b.rank() - 2] % 4 != 0)
    return Sparsity::kNone;
  const bool is_stored_turned = node.attributes.contains(kStoredTurned);
  if (node.attributes.contains(kStoredShape) && !is_stored_turned) return Sparsity::kNone;
  if (const OperandView* zero = product.b_zero_point ? node.input(*product.b_zero_point) : nullptr) {
    const bool is_zero =
        zero->zeros.all || (zero->value != nullptr && std::ranges::all_of(zero->value->bytes, [](auto byte) {
                              return static_cast<int>(byte) == 0;
                            }));
    if (!is_zero) return Sparsity::kNone;
  }
  return (*product.b_turned != is_stored_turned ? b->zeros.columns : b->zeros.rows) ? Sparsity::kTwoOf4
                                                                                    : Sparsity::kNone;
}

// How a bias of this shape is added to a GEMM's output of that shape; nullopt: by another broadcast.
std::optional<MatMulBias> BiasKind(const Shape& bias, const Shape& product) {
  const Shape squeezed = Squeezed(bias);
  const std::int64_t n = product.rank() == 0 ? 1 : product.dims.back();
  if (bias.rank() > 0 && bias.dims.back() == n && ElementCount(bias) == n) return MatMulBias::kColumn;
  if (squeezed == Squeezed(product)) return MatMulBias::kFull;
  return std::nullopt;
}

// Powers of two are bytes in files of before ONNX had a type for them.
Result<DataType> ScaleType(const NodeView& node, std::size_t position) {
  INFIMUM_ASSIGN_OR_RETURN(const DataType type, InputType(node, position));
  return type == DataType::kU8 ? DataType::kF8E8M0 : type;
}

// The scales that keep-stored-weights left; `transposed`: whether the product turns b round.
Status AddStoredScales(const NodeView& node, bool transposed, Product& product) {
  const auto block = IntegersIn(node, kStoredBlock, {1, kMaxElements});
  if (!block.ok()) return block.error();
  if (!*block) return Status();
  product.block = Shape{**block};
  if (transposed) product.block = Transposed(product.block);
  product.scales = kStoredScales;
  if (HasInput(node, kStoredScales + 1)) product.zero_points = kStoredScales + 1;
  if (!HasInput(node, kStoredScales + 2)) return Status();
  const auto row_block = IntegerIn(node, kRowBlock, 0, {0, kMaxElements});
  if (!row_block.ok()) return row_block.error();
  product.row_block = *row_block;
  if (product.row_block > 0) product.row_scales = kStoredScales + 2;
  return Status();
}

Result<Lowering> Gemm(const NodeView& node, const Product& given, bool with_activation) {
  INFIMUM_ASSIGN_OR_RETURN(Shape a, InputShape(node, given.a));
  INFIMUM_ASSIGN_OR_RETURN(Shape b, WeightShape(node, given.b));
  INFIMUM_ASSIGN_OR_RETURN(const bool transposed_a, Flag(node, "transA", false));
  INFIMUM_ASSIGN_OR_RETURN(const bool transposed_b, Flag(node, "transB", false));
  INFIMUM_ASSIGN_OR_RETURN(const double beta, Number(node, "beta", 1));
  if (a.rank() != 2 || b.rank() != 2)
    return Error{"Gemm multiplies two matrices, not " + Format(a) + " and " + Format(b)};
  if (transposed_a) a = Transposed(a);
  if (transposed_b) b = Transposed(b);
  Product product = given;
  product.b_turned = transposed_b;
  if (product.bias && (!HasInput(node, *product.bias) || beta == 0)) product.bias.reset();
  INFIMUM_RETURN_IF_ERROR(AddStoredScales(node, transposed_b, product));
  RegionBuilder region(node);
  Shape shape;
  INFIMUM_ASSIGN_OR_RETURN(const auto value, AddProduct(region, node, product, a, b, &shape));
  if (with_activation) INFIMUM_RETURN_IF_ERROR(AddActivation(region, node, shape, value));
  return region.Finish();
}

Result<Lowering> LowerGemm(const NodeView& node) { return Gemm(node, ProductOf(0, 1, 2), false); }
Result<Lowering> LowerFusedGemm(const NodeView& node) { return Gemm(node, ProductOf(0, 1, 2), true); }
Result<Lowering> LowerQGemm(const NodeView& node) {
  Product product = ProductOf(0, 3, 6);
  product.b_zero_point = 5;
  return Gemm(node, product, false);
}

// `transBatch`: the first dimension is a row of every matrix, so batch dimensions move to the front.
Result<Shape> Operand(const NodeView& node, std::size_t position, const std::string& transposed,
                      const std::string& transposed_batch) {
  INFIMUM_ASSIGN_OR_RETURN(Shape shape, position == 1 ? WeightShape(node, 1) : InputShape(node, position));
  INFIMUM_ASSIGN_OR_RETURN(const bool swap, Flag(node, transposed, false));
  INFIMUM_ASSIGN_OR_RETURN(const bool batch, Flag(node, transposed_batch, false));
  if (batch && shape.rank() > 2) std::rotate(shape.dims.begin(), shape.dims.begin() + 1, shape.dims.end() - 1);
  return swap ? Transposed(shape) : shape;
}

Result<Lowering> LowerFusedMatMul(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape a, Operand(node, 0, "transA", "transBatchA"));
  INFIMUM_ASSIGN_OR_RETURN(const Shape b, Operand(node, 1, "transB", "transBatchB"));
  INFIMUM_ASSIGN_OR_RETURN(const bool transposed, Flag(node, "transB", false));
  INFIMUM_ASSIGN_OR_RETURN(const bool moves_batch, Flag(node, "transBatchB", false));
  Product product;
  if (!moves_batch) product.b_turned = transposed;
  INFIMUM_RETURN_IF_ERROR(AddStoredScales(node, transposed, product));
  RegionBuilder region(node);
  Shape shape;
  INFIMUM_ASSIGN_OR_RETURN(const auto value, AddProduct(region, node, product, a, b, &shape));
  INFIMUM_RETURN_IF_ERROR(AddActivation(region, node, shape, value));
  return region.Finish();
}

Result<Lowering> LowerGemmFastGelu(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape a, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const Shape b, InputShape(node, 1));
  RegionBuilder region(node);
  Product product;
  if (HasInput(node, 2)) product.bias = 2;
  Shape shape;
  INFIMUM_ASSIGN_OR_RETURN(const auto value, AddProduct(region, node, product, a, b, &shape));
  INFIMUM_ASSIGN_OR_RETURN(const DataType type, OutputType(node, 0));
  INFIMUM_RETURN_IF_ERROR(
      region.AddPointwise(PointwiseKind::kGeluTanh, {type, DataType::kNone, type}, {shape}, {value}));
  return region.Finish();
}

}  // namespace

Result<Shape> WeightShape(const NodeView& node, std::size_t position) {
  INFIMUM_ASSIGN_OR_RETURN(const auto stored, IntegersIn(node, kStoredShape, {1, kMaxElements}));
  if (!stored) return InputShape(node, position);
  return Shape{*stored};
}

Shape Transposed(Shape shape) {
  if (shape.rank() >= 2) std::swap(shape.dims[shape.rank() - 1], shape.dims[shape.rank() - 2]);
  return shape;
}

Result<RegionBuilder::Source> AddProduct(RegionBuilder& region, const NodeView& node, const Product& product,
                                         const Shape& a, const Shape& b, Shape* shape) {
  OperandTypes types;
  if (product.a_type)
    types.input = *product.a_type;
  else {
    INFIMUM_ASSIGN_OR_RETURN(types.input, InputType(node, product.a));
  }
  if (product.b_type)
    types.weights = *product.b_type;
  else {
    INFIMUM_ASSIGN_OR_RETURN(types.weights, InputType(node, product.b));
  }
  INFIMUM_ASSIGN_OR_RETURN(types.output, OutputType(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const Shape result, ProductShape(a, b));
  if (shape != nullptr) *shape = result;

  MatMulBias kind = MatMulBias::kNone;
  std::optional<Shape> added;  // a bias that the GEMM itself cannot take
  if (product.bias) {
    INFIMUM_ASSIGN_OR_RETURN(const Shape bias, InputShape(node, *product.bias));
    if (const auto found = BiasKind(bias, result))
      kind = *found;
    else
      added = bias;
  }
  INFIMUM_ASSIGN_OR_RETURN(
      MatMulConfig config,
      MakeMatMul(types, a, b, kind,
                 ConstnessOf(node, product.b, kind == MatMulBias::kNone ? std::nullopt : product.bias)));
  config.activations = product.activations;
  // A scale that several matrices share is too few bytes to count.
  const std::size_t rank = product.block.rank();
  const bool has_scales = product.scales && rank >= 2 && ProductOf(product.block, 0, rank - 2) == 1;
  if (has_scales) {
    config.scales.rows = std::min(product.block.dims[rank - 2], config.b.dims[config.b.rank() - 2]);
    config.scales.columns = std::min(product.block.dims[rank - 1], config.b.dims.back());
    INFIMUM_ASSIGN_OR_RETURN(config.scales.type, ScaleType(node, *product.scales));
    if (ConstnessOf(node, *product.scales, product.zero_points) == Constness::kVariable)
      config.weights = Constness::kVariable;
  }
  std::vector<RegionBuilder::Source> operands{product.a_source ? *product.a_source : region.Input(product.a),
                                              region.Input(product.b)};
  if (kind != MatMulBias::kNone) operands.push_back(region.Input(*product.bias));
  if (has_scales) operands.push_back(region.Input(*product.scales));
  if (has_scales && product.zero_points) {
    INFIMUM_ASSIGN_OR_RETURN(config.scales.zero_points, product.zero_type ? Result<DataType>(*product.zero_type)
                                                                          : InputType(node, *product.zero_points));
    operands.push_back(region.Input(*product.zero_points));
  }
  if (has_scales && product.row_scales) {
    config.a_scales = {1, std::min(product.row_block, config.a.dims.back()), DataType::kNone};
    INFIMUM_ASSIGN_OR_RETURN(config.a_scales.type, ScaleType(node, *product.row_scales));
    operands.push_back(region.Input(*product.row_scales));
  }
  config.sparsity = SparsityOf(node, product, config);
  const auto value = region.Add(config, operands);
  if (!added) return value;
  INFIMUM_ASSIGN_OR_RETURN(const DataType bias_type, InputType(node, *product.bias));
  return region.AddPointwise(PointwiseKind::kAdd, {types.output, bias_type, types.output}, {result, *added},
                             {value, region.Input(*product.bias)});
}

Status AddActivation(RegionBuilder& region, const NodeView& node, const Shape& shape, RegionBuilder::Source value) {
  const Result<std::string> name = Text(node, "activation", "");
  if (!name.ok()) return name.error();
  const auto kind = ActivationKind(*name);
  if (!kind.ok()) return kind.error();
  if (!*kind) return Status();
  const Result<DataType> type = OutputType(node, 0);
  if (!type.ok()) return type.error();
  const auto added = region.AddPointwise(**kind, {*type, DataType::kNone, *type}, {shape}, {value});
  return added.ok() ? Status() : Status(added.error());
}

Result<Lowering> LowerMatMul(const NodeView& node) {
  INFIMUM_ASSIGN_OR_RETURN(const Shape a, InputShape(node, 0));
  INFIMUM_ASSIGN_OR_RETURN(const Shape b, WeightShape(node, 1));
  Product product;
  product.b_turned = false;
  if (node.op == "MatMulInteger") product.b_zero_point = 3;
  INFIMUM_RETURN_IF_ERROR(AddStoredScales(node, false, product));
  RegionBuilder region(node);
  INFIMUM_RETURN_IF_ERROR(AddProduct(region, node, product, a, b));
  return region.Finish();
}

std::span<const OperatorEntry> MatMulOperators() {
  static constexpr OperatorEntry kEntries[] = {
      {kOnnx, "Gemm", LowerGemm},
      {kOnnx, "MatMul", LowerMatMul},
      {kOnnx, "MatMulInteger", LowerMatMul},
      {kMicrosoft, "FusedGemm", LowerFusedGemm},
      {kMicrosoft, "FusedMatMul", LowerFusedMatMul},
      {kMicrosoft, "FusedMatMulActivation", LowerFusedMatMul},
      {kMicrosoft, "GemmFastGelu", LowerGemmFastGelu},
      {kMicrosoft, "GemmFloat8", LowerFusedGemm},
      {kMicrosoft, "MatMulInteger16", LowerMatMul},
      {kMicrosoft, "QGemm", LowerQGemm},
      {kMicrosoft, "TransposeMatMul", LowerFusedMatMul},
  };
  return kEntries;
}

}  // namespace infimum::lowering
