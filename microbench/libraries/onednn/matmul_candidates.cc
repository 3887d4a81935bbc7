#include "microbench/libraries/onednn/matmul_candidates.h"

#include <algorithm>

#include "infimum/layer/layer_config.h"
#include "microbench/libraries/onednn/program/implementations.h"
#include "microbench/libraries/onednn/program/product_attributes.h"

namespace infimum::cpu {
namespace {

using dnnl::memory;
using dnnl::prop_kind;

// What the product's forms below share: a matrix product with its operands seen as one primitive sees
// them. `rows` x `depth` times `depth` x `columns`, unbatched where `batched` is false.
struct Product {
  OperandTypes types;
  Shape a, b, output;
  std::int64_t rows = 1, depth = 1, columns = 1;
  bool batched = false;
  bool packed = true;
  ProductValues values;
  MatMulBias bias = MatMulBias::kNone;
  DataType bias_type = DataType::kF32;
  Epilogue epilogue;
  // A convolution's weights lie with the output channels outermost: B transposed.
  bool b_transposed = false;
  // A convolution's pixels lie with the channels outermost: described so when they are brought in.
  std::optional<memory::desc> a_described, output_described;
};

// The bias as the library takes it.
memory::desc BiasDesc(const Product& product, const Shape& shape) {
  return PlainDesc(shape, LibraryBiasType(product.values, product.bias_type));
}

bool HasProduct(const OperandTypes& types) {
  return LibraryType(types.input) != memory::data_type::undef &&
         LibraryType(types.weights) != memory::data_type::undef &&
         LibraryType(types.output) != memory::data_type::undef;
}

// The last two dimensions exchanged, in logical order and in memory both or only in one of them.
Shape Swapped(Shape shape) {
  std::swap(shape.dims[shape.rank() - 1], shape.dims[shape.rank() - 2]);
  return shape;
}

// A tensor of `shape` whose memory is row-major in the exchanged shape.
memory::desc SwappedMemory(const Shape& shape, DataType type) {
  const std::size_t rank = shape.rank();
  memory::dims strides(rank, 1);
  strides[rank - 2] = 1;
  strides[rank - 1] = std::max<std::int64_t>(1, shape.dims[rank - 2]);
  std::int64_t stride = std::max<std::int64_t>(1, shape.dims[rank - 1]) * strides[rank - 1];
  for (std::size_t i = rank - 2; i-- > 0;) {
    strides[i] = stride;
    stride *= std::max<std::int64_t>(1, shape.dims[i]);
  }
  return memory::desc(shape.dims, LibraryType(type), strides);
}

Shape BiasShape(const Product& product, std::size_t rank) {
  if (product.bias == MatMulBias::kFull) return product.output;
  Shape shape;
  shape.dims.assign(rank, 1);
  shape.dims.back() = product.columns;
  return shape;
}

memory::desc DescribedB(const Product& product) {
  return product.b_transposed ? SwappedMemory(product.b, product.types.weights)
                              : PlainDesc(product.b, product.types.weights);
}

PrimitiveCall BindProduct(const Product& product, const Problem& problem,
                          const dnnl::primitive_desc_base& implementation, const memory::desc& a, const memory::desc& b,
                          const Shape& bias, const memory::desc& output) {
  PrimitiveCall call;
  call.implementation = implementation;
  call.inputs.push_back({DNNL_ARG_SRC, problem.operands[0], a});
  call.inputs.push_back({DNNL_ARG_WEIGHTS, problem.operands[1], b, product.packed});
  if (product.bias != MatMulBias::kNone) {
    BindBias(product.values, *problem.operands[2], bias, product.bias == MatMulBias::kColumn, call);
  }
  call.outputs.push_back({DNNL_ARG_DST, problem.outputs[0], output});
  BindProductVectors(product.values, product.columns, call);
  Bind(product.epilogue, problem, call);
  return call;
}

dnnl::primitive_attr AttributesOf(const Product& product, int channel_mask) {
  dnnl::primitive_attr attributes = DefaultAttributes();
  SetProductAttributes(product.values, channel_mask, attributes);
  Append(product.epilogue, attributes);
  return attributes;
}

void AppendOffers(std::vector<Offer>& all, std::vector<Offer> more) {
  std::move(more.begin(), more.end(), std::back_inserter(all));
}

std::vector<Offer> AsMatMul(const Product& product, const std::string& prefix) {
  const std::size_t rank = product.output.rank();
  const memory::desc a = product.a_described.value_or(PlainDesc(product.a, product.types.input));
  const memory::desc output = product.output_described.value_or(PlainDesc(product.output, product.types.output));
  const Shape bias_shape = BiasShape(product, rank);
  const memory::desc bias = BiasDesc(product, bias_shape);
  ImplementationWalk walk(
      [=](const Problem& problem, const dnnl::primitive_desc_base& implementation) -> Result<PrimitiveCall> {
        return BindProduct(product, problem, implementation, a, DescribedB(product), bias_shape, output);
      },
      prefix);
  walk.Sees(DNNL_ARG_SRC, a);
  walk.Sees(DNNL_ARG_DST, output);
  if (!product.packed) {
    walk.Sees(DNNL_ARG_WEIGHTS, DescribedB(product));
    walk.Reads(DNNL_ARG_WEIGHTS);
  }
  const auto add = [&](const std::string& policy, const memory::desc& source, const memory::desc& weights,
                       const memory::desc& target) {
    walk.Add(policy, [&]() -> dnnl::primitive_desc {
      const dnnl::primitive_attr attributes = AttributesOf(product, 1 << (rank - 1));
      if (product.bias == MatMulBias::kNone) {
        return dnnl::matmul::primitive_desc(CpuEngine(), source, weights, target, attributes, true);
      }
      return dnnl::matmul::primitive_desc(CpuEngine(), source, weights, bias, target, attributes, true);
    });
  };
  const memory::desc plain_a = PlainDesc(product.a, product.types.input);
  const memory::desc plain_b = PlainDesc(product.b, product.types.weights);
  const memory::desc plain_output = PlainDesc(product.output, product.types.output);
  if (product.packed) {
    const memory::desc any_a = AnyDesc(product.a, product.types.input);
    const memory::desc any_b = AnyDesc(product.b, product.types.weights);
    add("", any_a, any_b, AnyDesc(product.output, product.types.output));
    add("plain", plain_a, any_b, plain_output);
    add("plain-b", plain_a, plain_b, plain_output);
  } else {
    add("", plain_a, plain_b, plain_output);
  }
  add("b-transposed", plain_a, SwappedMemory(product.b, product.types.weights), plain_output);
  return walk.Take();
}

// C^T = B^T A^T, with the result transposed in memory or not.
std::vector<Offer> AsTransposed(const Product& product) {
  if (product.bias != MatMulBias::kNone || !product.epilogue.empty()) return {};
  if (IsInteger(product.types.input)) return {};  // scales and zero points belong to the other side then
  const Shape a = Swapped(product.a), b = Swapped(product.b), output = Swapped(product.output);
  ImplementationWalk walk(
      [=](const Problem& problem, const dnnl::primitive_desc_base& implementation) -> Result<PrimitiveCall> {
        PrimitiveCall call;
        call.implementation = implementation;
        call.inputs.push_back(
            {DNNL_ARG_SRC, problem.operands[1], SwappedMemory(b, product.types.weights), product.packed});
        call.inputs.push_back({DNNL_ARG_WEIGHTS, problem.operands[0], SwappedMemory(a, product.types.input)});
        call.outputs.push_back({DNNL_ARG_DST, problem.outputs[0], SwappedMemory(output, product.types.output)});
        return call;
      },
      "matmul-transposed/");
  walk.Sees(DNNL_ARG_WEIGHTS, SwappedMemory(a, product.types.input));
  walk.Sees(DNNL_ARG_DST, SwappedMemory(output, product.types.output));
  if (!product.packed) {
    walk.Sees(DNNL_ARG_SRC, SwappedMemory(b, product.types.weights));
    walk.Reads(DNNL_ARG_SRC);
  }
  const auto add = [&](const std::string& policy, const memory::desc& target) {
    walk.Add(
        policy,
        [&]() -> dnnl::primitive_desc {
          const memory::desc source =
              product.packed ? AnyDesc(b, product.types.weights) : SwappedMemory(b, product.types.weights);
          return dnnl::matmul::primitive_desc(CpuEngine(), source, SwappedMemory(a, product.types.input), target,
                                              DefaultAttributes(), true);
        },
        DNNL_ARG_WEIGHTS);
  };
  add("", SwappedMemory(output, product.types.output));
  add("transposed-output", PlainDesc(output, product.types.output));
  return walk.Take();
}

std::vector<Offer> AsInnerProduct(Product product) {
  if (product.batched || !product.packed || product.bias == MatMulBias::kFull) return {};
  const Shape a{{product.rows, product.depth}}, weights{{product.columns, product.depth}};
  const Shape output{{product.rows, product.columns}};
  for (Epilogue::Step& step : product.epilogue.steps) {
    if (!step.binary) continue;
    step.shape.dims.erase(step.shape.dims.begin(), step.shape.dims.end() - 2);
  }
  const memory::desc described_weights =
      product.b_transposed ? PlainDesc(weights, product.types.weights) : SwappedMemory(weights, product.types.weights);
  const Shape bias_shape{{product.columns}};
  const memory::desc bias = BiasDesc(product, bias_shape);
  const memory::desc described_a =
      product.a_described ? product.a_described->reshape(a.dims, true) : PlainDesc(a, product.types.input);
  const memory::desc described_output = product.output_described ? product.output_described->reshape(output.dims, true)
                                                                 : PlainDesc(output, product.types.output);
  if (described_a.is_zero() || described_output.is_zero()) return {};
  ImplementationWalk walk(
      [=](const Problem& problem, const dnnl::primitive_desc_base& implementation) -> Result<PrimitiveCall> {
        return BindProduct(product, problem, implementation, described_a, described_weights, bias_shape,
                           described_output);
      },
      "matmul-as-inner-product/");
  walk.Sees(DNNL_ARG_SRC, described_a);
  walk.Sees(DNNL_ARG_DST, described_output);
  const auto add = [&](const std::string& policy, const memory::desc& source, const memory::desc& target) {
    walk.Add(policy, [&]() -> dnnl::primitive_desc {
      const dnnl::primitive_attr attributes = AttributesOf(product, 1);
      const memory::desc any = AnyDesc(weights, product.types.weights);
      if (product.bias == MatMulBias::kNone) {
        return dnnl::inner_product_forward::primitive_desc(CpuEngine(), prop_kind::forward_inference, source, any,
                                                           target, attributes, true);
      }
      return dnnl::inner_product_forward::primitive_desc(CpuEngine(), prop_kind::forward_inference, source, any, bias,
                                                         target, attributes, true);
    });
  };
  add("", AnyDesc(a, product.types.input), AnyDesc(output, product.types.output));
  add("plain", PlainDesc(a, product.types.input), PlainDesc(output, product.types.output));
  return walk.Take();
}

// Rows are the pixels, columns the output channels of a 1x1 convolution over one image.
std::vector<Offer> AsConvolution(const Product& product) {
  if (product.batched || !product.packed || product.bias == MatMulBias::kFull) return {};
  if (std::any_of(product.epilogue.steps.begin(), product.epilogue.steps.end(),
                  [](const Epilogue::Step& step) { return step.binary; })) {
    return {};
  }
  const Shape input{{1, product.depth, product.rows, 1}}, output{{1, product.columns, product.rows, 1}};
  const Shape weights{{product.columns, product.depth, 1, 1}};
  const memory::desc described_weights(
      weights.dims, LibraryType(product.types.weights),
      product.b_transposed ? memory::dims{product.depth, 1, 1, 1} : memory::dims{1, product.columns, 1, 1});
  const Shape bias_shape{{product.columns}};
  const memory::desc bias = BiasDesc(product, bias_shape);
  ImplementationWalk walk(
      [=](const Problem& problem, const dnnl::primitive_desc_base& implementation) -> Result<PrimitiveCall> {
        return BindProduct(product, problem, implementation, ChannelsLastDesc(input, product.types.input),
                           described_weights, bias_shape, ChannelsLastDesc(output, product.types.output));
      },
      "matmul-as-convolution/");
  walk.Sees(DNNL_ARG_SRC, ChannelsLastDesc(input, product.types.input));
  walk.Sees(DNNL_ARG_DST, ChannelsLastDesc(output, product.types.output));
  const auto add = [&](const std::string& policy, const memory::desc& source, const memory::desc& target) {
    walk.Add(policy, [&]() -> dnnl::primitive_desc {
      const dnnl::primitive_attr attributes = AttributesOf(product, 1);
      const memory::desc any = AnyDesc(weights, product.types.weights);
      const memory::dims one{1, 1}, none{0, 0};
      if (product.bias == MatMulBias::kNone) {
        return dnnl::convolution_forward::primitive_desc(CpuEngine(), prop_kind::forward_inference,
                                                         dnnl::algorithm::convolution_direct, source, any, target, one,
                                                         none, none, attributes, true);
      }
      return dnnl::convolution_forward::primitive_desc(CpuEngine(), prop_kind::forward_inference,
                                                       dnnl::algorithm::convolution_direct, source, any, bias, target,
                                                       one, none, none, attributes, true);
    });
  };
  add("", AnyDesc(input, product.types.input), AnyDesc(output, product.types.output));
  add("plain", ChannelsLastDesc(input, product.types.input), ChannelsLastDesc(output, product.types.output));
  return walk.Take();
}

Product MakeProduct(const MatMulConfig& config, const LayerValues& values) {
  Product product;
  product.types = config.types;
  product.a = config.a;
  product.b = config.b;
  product.output = OutputShape(config);
  const std::size_t rank = config.a.rank();
  product.rows = config.a.dims[rank - 2];
  product.depth = config.a.dims[rank - 1];
  product.columns = config.b.dims[rank - 1];
  product.values = ProductValuesOf(config.types, product.depth, values);
  product.packed = config.weights == Constness::kConstant;
  product.bias = config.bias;
  if (config.bias != MatMulBias::kNone) product.bias_type = OperandsOf(LayerConfig(config))[2].type;
  for (std::size_t i = 0; i + 2 < rank; ++i) {
    product.batched = product.batched || config.b.dims[i] != 1 || config.a.dims[i] != 1;
  }
  return product;
}

}  // namespace

std::vector<Offer> MatMulOffers(const MatMulConfig& config, const LayerValues& values, const Epilogue& epilogue) {
  if (!HasProduct(config.types)) return {};
  Product product = MakeProduct(config, values);
  if (!product.values.symmetric()) return {};
  if (product.bias != MatMulBias::kNone && LibraryType(product.bias_type) == memory::data_type::undef) return {};
  product.epilogue = epilogue;
  // A full bias in the accumulator's scale would have to be converted at each run.
  if (product.bias == MatMulBias::kFull &&
      BiasDesc(product, product.output) != PlainDesc(product.output, product.bias_type)) {
    return {};
  }
  std::vector<Offer> offers = AsMatMul(product, "");
  // The convolution's offers report layouts of rank four; those are the library's words.
  AppendOffers(offers, AsInnerProduct(product));
  AppendOffers(offers, AsConvolution(product));
  AppendOffers(offers, AsTransposed(product));
  return offers;
}

std::vector<Offer> PointwiseConvolutionOffers(const ConvolutionConfig& config, const LayerValues& values) {
  const auto all = [](const std::vector<std::int64_t>& numbers, std::int64_t wanted) {
    return std::all_of(numbers.begin(), numbers.end(), [=](std::int64_t number) { return number == wanted; });
  };
  if (config.transposed || config.groups != 1 || !all(config.kernel.dims, 1) || !all(config.stride.dims, 1) ||
      !all(config.padding, 0) || !HasProduct(config.types)) {
    return {};
  }
  Product product;
  product.types = config.types;
  product.depth = config.input.dims[1];
  product.values = ProductValuesOf(config.types, product.depth, values);
  if (!product.values.symmetric()) return {};
  product.columns = config.output_channels;
  product.rows = ElementCount(config.input) / product.depth;
  product.packed = config.weights == Constness::kConstant;
  product.b_transposed = true;
  product.a = Shape{{product.rows, product.depth}};
  product.b = Shape{{product.depth, product.columns}};
  product.output = Shape{{product.rows, product.columns}};
  if (config.bias) {
    product.bias = MatMulBias::kColumn;
    product.bias_type = OperandsOf(LayerConfig(config))[2].type;
    if (LibraryType(product.bias_type) == memory::data_type::undef) return {};
  }
  // Pixels and channels change places when the operands are brought in; with one image that is a
  // strided view of the model's memory, with more it takes a copy with the channels last.
  if (config.input.dims[0] != 1) return {};
  product.a_described = memory::desc(product.a.dims, LibraryType(product.types.input), memory::dims{1, product.rows});
  product.output_described =
      memory::desc(product.output.dims, LibraryType(product.types.output), memory::dims{1, product.rows});
  return AsMatMul(product, "convolution-as-matmul/");
}

}  // namespace infimum::cpu
