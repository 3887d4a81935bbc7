// Transposed convolutions whose kernel is as large as its stride: no two pixels of the input meet in one of the output,
// so the layer is one matrix product and a copy that puts each pixel's block in its place.
//
//   in=1x128x64x64 out_channels=64 kernel=2x2 stride=2x2
//     ->  [4096 x 128] x [128 x 256], rows of 2 x 64 floats moved to their image rows (channels last)

#include <algorithm>
#include <cstring>
#include <string_view>

#include "microbench/libraries/onednn/layer_offers.h"
#include "microbench/libraries/onednn/program/element_runs.h"
#include "microbench/libraries/onednn/program/memory_copy.h"
#include "microbench/libraries/onednn/program/parallel.h"
#include "microbench/libraries/onednn/program/placed_tensor.h"
#include "src/core/base/prepared.h"

namespace infimum::cpu {
namespace {

constexpr std::int64_t kLeastFloats = 16384;

// The layer as batch x height x width pixels; a one-dimensional one has a height of one.
struct Upsampling {
  std::int64_t batch = 1, height = 1, width = 1;
  std::int64_t inputs = 1, outputs = 1;  // channels
  std::int64_t kernel_height = 1, kernel_width = 1;
  bool bias = false;

  std::int64_t pixels() const { return batch * height * width; }
  std::int64_t columns() const { return kernel_height * kernel_width * outputs; }
};

bool Applies(const ConvolutionConfig& config) {
  const std::size_t rank = config.kernel.rank();
  const auto zero = [](const auto& values) {
    return std::ranges::all_of(values, [](std::int64_t value) { return value == 0; });
  };
  return config.transposed && rank >= 1 && rank <= 2 && config.groups == 1 && config.kernel == config.stride &&
         config.dilation == Shape{std::vector<std::int64_t>(rank, 1)} && zero(config.padding) &&
         zero(config.output_padding) && config.weights == Constness::kConstant &&
         config.types.input == DataType::kF32 && config.types.weights == DataType::kF32 &&
         config.types.output == DataType::kF32;
}

Upsampling Describe(const ConvolutionConfig& config) {
  Upsampling layer;
  layer.batch = config.input.dims[0];
  layer.inputs = config.input.dims[1];
  layer.outputs = config.output_channels;
  layer.width = config.input.dims.back();
  layer.kernel_width = config.kernel.dims.back();
  if (config.kernel.rank() == 2) {
    layer.height = config.input.dims[2];
    layer.kernel_height = config.kernel.dims[0];
  }
  layer.bias = config.bias;
  return layer;
}

MatMulConfig ProductOf(const Upsampling& layer) {
  MatMulConfig product;
  product.types = {DataType::kF32, DataType::kF32, DataType::kF32};
  product.a = Shape{{1, layer.pixels(), layer.inputs}};
  product.b = Shape{{1, layer.inputs, layer.columns()}};
  product.bias = layer.bias ? MatMulBias::kColumn : MatMulBias::kNone;
  product.weights = Constness::kConstant;
  return product;
}

// Whether a product reads and writes rows one after the other, as the copy behind it needs.
bool IsRowMajor(std::string_view layout) { return layout == "abc" || layout == "ab" || layout == "acdb"; }

// The product, then each pixel's blocks to their places. Input and output have the channels last: as they come where
// the tensors lie so, else in copies.
class UpsamplingProgram : public Program {
 public:
  Status Prepare(const ConvolutionConfig& config, const Upsampling& layer, const Offer& product,
                 const Problem& problem) {
    layer_ = layer;
    INFIMUM_RETURN_IF_ERROR(model_input_.Prepare(*problem.operands[0], ChannelsLastOrder(config.input)));
    INFIMUM_RETURN_IF_ERROR(model_output_.Prepare(*problem.outputs[0], ChannelsLastOrder(OutputShape(config))));
    footprint_ = Bytes{static_cast<std::int64_t>(problem.outputs[0]->bytes())};
    const Shape input_shape{{1, layer.pixels(), layer.inputs}};
    INFIMUM_ASSIGN_OR_RETURN(input_, HostTensor::Over(model_input_.data(), input_shape, DataType::kF32));
    INFIMUM_ASSIGN_OR_RETURN(weights_, HostTensor::Make(Shape{{1, layer.inputs, layer.columns()}}, DataType::kF32));
    INFIMUM_ASSIGN_OR_RETURN(blocks_, HostTensor::Make(Shape{{1, layer.pixels(), layer.columns()}}, DataType::kF32));
    INFIMUM_RETURN_IF_ERROR(Pack());
    // From inputs x outputs x kernel to inputs x (kernel x outputs).
    const std::int64_t taps = layer.kernel_height * layer.kernel_width;
    MakeTranspose(Shape{{layer.inputs, layer.outputs, taps}}, {0, 2, 1}, sizeof(float))(problem.operands[1]->data(),
                                                                                        weights_.data());
    Problem inner{ProductOf(layer), {&input_, &weights_}, {&blocks_}};
    if (layer.bias) {
      INFIMUM_ASSIGN_OR_RETURN(bias_, HostTensor::Make(Shape{{layer.columns()}}, DataType::kF32));
      for (std::int64_t i = 0; i < layer.columns(); ++i) bias_.Set(i, problem.operands[2]->Get(i % layer.outputs));
      inner.operands.push_back(&bias_);
    }
    INFIMUM_ASSIGN_OR_RETURN(product_, product.make(inner));
    if (!product_->in_place()) return Error{"unsupported: the product's layout is its own"};
    return {};
  }

  Status Run() override {
    INFIMUM_RETURN_IF_ERROR(product_->Run());
    const std::int64_t run = layer_.kernel_width * layer_.outputs;
    const std::int64_t rows = layer_.batch * layer_.height;
    ParallelRanges(rows, std::max<std::int64_t>(1, kLeastFloats / (layer_.width * layer_.columns())),
                   [&](std::int64_t first, std::int64_t last) {
                     for (std::int64_t row = first; row < last; ++row) MoveRow(row, run);
                   });
    return {};
  }

  Status Pack() override { return model_input_.Pack(); }
  Status Unpack() override { return model_output_.Unpack(); }
  bool in_place() const override { return !model_input_.is_copy() && !model_output_.is_copy(); }
  Bytes footprint() const override { return product_->footprint() + footprint_; }
  std::vector<ConstantBlock> Constants() override { return product_->Constants(); }

 private:
  void MoveRow(std::int64_t row, std::int64_t run) const {
    for (std::int64_t k = 0; k < layer_.kernel_height; ++k) {
      float* to = model_output_.As<float>() + (row * layer_.kernel_height + k) * layer_.width * run;
      const float* from = blocks_.As<float>() + row * layer_.width * layer_.columns() + k * run;
      for (std::int64_t x = 0; x < layer_.width; ++x) {
        std::memcpy(to + x * run, from + x * layer_.columns(), static_cast<std::size_t>(run) * sizeof(float));
      }
    }
  }

  Upsampling layer_;
  PlacedTensor model_input_, model_output_;
  HostTensor input_, weights_, bias_, blocks_;
  Bytes footprint_;
  std::unique_ptr<Program> product_;
};

}  // namespace

std::vector<Offer> UpsamplingProductOffers(const ConvolutionConfig& config) {
  if (!Applies(config)) return {};
  const Upsampling layer = Describe(config);
  std::vector<Offer> offers;
  for (const Offer& product : MatMulOffers(ProductOf(layer))) {
    if (!IsRowMajor(product.candidate.input_layout) || !IsRowMajor(product.candidate.output_layout)) continue;
    Offer offer = product;
    offer.candidate.algorithm = "upsampling-as-matmul/" + product.candidate.algorithm;
    offer.candidate.input_layout = offer.candidate.output_layout = config.kernel.rank() == 2 ? "acdb" : "acb";
    offer.candidate.library_choice = false;
    offer.input_orders.clear();
    offer.output_order = nullptr;
    offer.make = [config, layer, product](const Problem& problem) -> MadeProgram {
      return Prepared<Program>(std::make_unique<UpsamplingProgram>(), config, layer, product, problem);
    };
    offer.place = [config](const Problem& problem) -> Result<std::vector<Placement>> {
      return std::vector<Placement>{{problem.operands[0], ChannelsLastOrder(config.input)},
                                    {problem.outputs[0], ChannelsLastOrder(OutputShape(config))}};
    };
    offers.push_back(std::move(offer));
  }
  return offers;
}

}  // namespace infimum::cpu
