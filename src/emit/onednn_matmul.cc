#include "src/emit/onednn_matmul.h"

#include <fmt/format.h>

#include <algorithm>

#include "infimum/layer/layer_config.h"
#include "src/emit/onednn_types.h"
#include "src/emit/source_text.h"

namespace infimum::emit {
namespace {

Shape Swapped(Shape shape) {
  std::swap(shape.dims[shape.rank() - 1], shape.dims[shape.rank() - 2]);
  return shape;
}

Shape BiasShape(const MatrixProduct& product) {
  if (product.bias == MatMulBias::kFull) return product.result;
  Shape shape;
  shape.dims.assign(product.result.rank(), 1);
  shape.dims.back() = product.result.dims.back();
  return shape;
}

// The other primitives that compute an unbatched product with packed weights.
struct Rows {
  std::int64_t rows, depth, columns;
};

void AddInnerProduct(const MatrixProduct& product, const Rows& extents, const std::vector<PostOperation>& steps,
                     OneDnnSource& source) {
  const bool own_attributes =
      std::any_of(steps.begin(), steps.end(), [](const PostOperation& step) { return step.binary; });
  source.Dims("kRows", Shape{{extents.rows, extents.depth}}, "as an inner product");
  source.Dims("kRowWeights", Shape{{extents.columns, extents.depth}});
  source.Dims("kRowResult", Shape{{extents.rows, extents.columns}});
  if (product.bias != MatMulBias::kNone) source.Dims("kRowBias", Shape{{extents.columns}});
  if (own_attributes) AddAttributes(product.numbers, steps, "RowAttributes", 2, source);
  std::vector<std::string> arguments{"Cpu()", "prop_kind::forward_inference",
                                     Desc("layout", "kRows", product.types.input),
                                     Desc("Any", "kRowWeights", product.types.weights)};
  if (product.bias != MatMulBias::kNone) arguments.push_back(Desc("Plain", "kRowBias", product.bias_type));
  arguments.push_back(Desc("layout", "kRowResult", product.types.output));
  arguments.push_back(CallAttributes(product.numbers, own_attributes ? "RowAttributes" : "Attributes", 1));
  arguments.emplace_back("/*allow_empty=*/true");
  source.functions.push_back(
      fmt::format("inner_product_forward::primitive_desc AsInnerProduct(Layout layout) {{\n  return {};\n}}\n",
                  BrokenCall("inner_product_forward::primitive_desc", arguments, 2, 8)));
  source.forms.push_back({"matmul-as-inner-product/*", "AsInnerProduct(Any)"});
  source.forms.push_back({"matmul-as-inner-product/*/plain", "AsInnerProduct(Plain)"});
}

void AddConvolution(const MatrixProduct& product, const Rows& extents, OneDnnSource& source) {
  source.Dims("kImage", Shape{{1, extents.depth, extents.rows, 1}}, "as a 1x1 convolution: rows are pixels");
  source.Dims("kTaps", Shape{{extents.columns, extents.depth, 1, 1}});
  source.Dims("kImageResult", Shape{{1, extents.columns, extents.rows, 1}});
  if (product.bias != MatMulBias::kNone) source.Dims("kImageBias", Shape{{extents.columns}});
  std::vector<std::string> arguments{"Cpu()", "prop_kind::forward_inference", "algorithm::convolution_direct",
                                     Desc("layout", "kImage", product.types.input),
                                     Desc("Any", "kTaps", product.types.weights)};
  if (product.bias != MatMulBias::kNone) arguments.push_back(Desc("Plain", "kImageBias", product.bias_type));
  arguments.push_back(Desc("layout", "kImageResult", product.types.output));
  for (const char* rest : {"memory::dims{1, 1}", "memory::dims{0, 0}", "memory::dims{0, 0}"})
    arguments.emplace_back(rest);
  arguments.push_back(CallAttributes(product.numbers, "Attributes", 1));
  arguments.emplace_back("/*allow_empty=*/true");
  source.functions.push_back(
      fmt::format("convolution_forward::primitive_desc AsConvolution(Layout layout) {{\n  return {};\n}}\n",
                  BrokenCall("convolution_forward::primitive_desc", arguments, 2, 8)));
  source.forms.push_back({"matmul-as-convolution/*", "AsConvolution(Any)"});
  source.forms.push_back({"matmul-as-convolution/*/plain", "AsConvolution(ChannelsLast)"});
}

// The transposed result is the product of the transposed matrices, the other way round.
void AddTransposed(const MatrixProduct& product, OneDnnSource& source) {
  source.Dims("kTransposedB", Swapped(product.b), "the other way round: the transposed result");
  source.Dims("kTransposedA", Swapped(product.a));
  source.Dims("kTransposedC", Swapped(product.result));
  const std::vector<std::string> arguments{
      "Cpu()",
      Desc(product.packed ? "Any" : "Transposed", "kTransposedB", product.types.weights),
      Desc("Transposed", "kTransposedA", product.types.input),
      Desc("layout", "kTransposedC", product.types.output),
      "Attributes()",
      "/*allow_empty=*/true"};
  source.functions.push_back(fmt::format("matmul::primitive_desc AsTransposed(Layout layout) {{\n  return {};\n}}\n",
                                         BrokenCall("matmul::primitive_desc", arguments, 2, 8)));
  source.forms.push_back({"matmul-transposed/*", "AsTransposed(Transposed)"});
  source.forms.push_back({"matmul-transposed/*/transposed-output", "AsTransposed(Plain)"});
}

}  // namespace

void AddMatMulForms(const MatrixProduct& product, std::string_view prefix, std::string_view function,
                    std::string_view names, OneDnnSource& source) {
  const auto name = [&](const char* part) { return fmt::format("{}{}", names, part); };
  source.Dims(name("A"), product.a, "rows, depth");
  source.Dims(name("B"), product.b, "depth, columns");
  if (product.bias != MatMulBias::kNone) source.Dims(name("Bias"), BiasShape(product));
  source.Dims(name("C"), product.result, "rows, columns");
  std::vector<std::string> arguments{"Cpu()", Desc("a", name("A"), product.types.input),
                                     Desc("b", name("B"), product.types.weights)};
  if (product.bias != MatMulBias::kNone) arguments.push_back(Desc("Plain", name("Bias"), product.bias_type));
  arguments.push_back(Desc("c", name("C"), product.types.output));
  arguments.push_back(CallAttributes(product.numbers, "Attributes", 1 << (product.result.rank() - 1)));
  arguments.emplace_back("/*allow_empty=*/true");
  source.functions.push_back(
      fmt::format("matmul::primitive_desc {}(Layout a, Layout b, Layout c) {{\n  return {};\n}}\n", function,
                  BrokenCall("matmul::primitive_desc", arguments, 2, 8)));
  const auto add = [&](const char* policy, const char* layouts) {
    source.forms.push_back({fmt::format("{}*{}", prefix, policy), fmt::format("{}({})", function, layouts)});
  };
  if (product.packed) {
    add("", "Any, Any, Any");
    add("/plain", "Plain, Any, Plain");
    add("/plain-b", "Plain, Plain, Plain");
  } else {
    add("", "Plain, Plain, Plain");
  }
  add("/b-transposed", "Plain, Transposed, Plain");
}

Result<OneDnnSource> DescribeMatMul(const MatMulConfig& config, const std::vector<PostOperation>& steps) {
  INFIMUM_RETURN_IF_ERROR(CheckTypes({config.types.input, config.types.weights, config.types.output}));
  if (IsFloatingPoint(config.types.input) && IsInteger(config.types.weights))
    return Error{"its integer weights become f32 first, by kernels of infimum's own, which are not emitted"};
  MatrixProduct product;
  product.types = config.types;
  product.a = config.a;
  product.b = config.b;
  product.result = OutputShape(config);
  product.packed = config.weights == Constness::kConstant;
  product.bias = config.bias;
  const std::size_t rank = config.a.rank();
  const Rows extents{config.a.dims[rank - 2], config.a.dims[rank - 1], config.b.dims[rank - 1]};
  product.numbers = NumbersOf(config.types, extents.depth);
  if (config.bias != MatMulBias::kNone) {
    const DataType type = OperandsOf(LayerConfig(config))[2].type;
    INFIMUM_RETURN_IF_ERROR(CheckTypes({type}));
    product.bias_type = LibraryBiasType(product.numbers, type);
    if (config.bias == MatMulBias::kFull && product.bias_type != type)
      return Error{"its full bias in the accumulator's scale would have to be converted at each run"};
  }

  OneDnnSource source;
  AddAttributes(product.numbers, steps, "Attributes", rank, source);
  AddMatMulForms(product, "", "Describe", "k", source);
  bool batched = false;
  for (std::size_t i = 0; i + 2 < rank; ++i) batched = batched || config.b.dims[i] != 1 || config.a.dims[i] != 1;
  const bool has_binary =
      std::any_of(steps.begin(), steps.end(), [](const PostOperation& step) { return step.binary; });
  if (!batched && product.packed && config.bias != MatMulBias::kFull) {
    AddInnerProduct(product, extents, steps, source);
    if (!has_binary) AddConvolution(product, extents, source);
  }
  if (config.bias == MatMulBias::kNone && steps.empty() && !IsInteger(config.types.input))
    AddTransposed(product, source);

  source.arguments.push_back(InputText("DNNL_ARG_SRC", RangeOf(config.types.input)));
  const Range weights = RangeOf(config.types.weights, true);
  source.arguments.push_back(product.packed ? ConstantText("DNNL_ARG_WEIGHTS", weights)
                                            : InputText("DNNL_ARG_WEIGHTS", weights));
  if (config.bias == MatMulBias::kColumn)
    source.arguments.push_back(ConstantText("DNNL_ARG_BIAS", RangeOf(product.bias_type)));
  if (config.bias == MatMulBias::kFull)
    source.arguments.push_back(InputText("DNNL_ARG_BIAS", RangeOf(product.bias_type)));
  source.arguments.push_back(OutputText("DNNL_ARG_DST"));
  AddAttributeArguments(product.numbers, steps, extents.columns, source);
  source.signed_input = config.types.input == DataType::kS8;
  if (!steps.empty()) source.layouts.clear();
  return source;
}

}  // namespace infimum::emit
