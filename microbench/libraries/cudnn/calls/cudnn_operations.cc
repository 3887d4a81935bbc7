#include "microbench/libraries/cudnn/calls/cudnn_operations.h"

#include <map>
#include <stdexcept>

namespace cudnn {
namespace {

template <class Value>
Value Find(const std::map<std::string, Value>& words, const std::string& word) {
  const auto found = words.find(word);
  if (found == words.end()) throw std::runtime_error("cuDNN's graph has no '" + word + "'");
  return found->second;
}

fe::DataType_t TypeOf(const std::string& name) {
  using Type = fe::DataType_t;
  static const std::map<std::string, Type> types{
      {"f64", Type::DOUBLE},      {"f32", Type::FLOAT},       {"f16", Type::HALF},  {"bf16", Type::BFLOAT16},
      {"f8e4m3", Type::FP8_E4M3}, {"f8e5m2", Type::FP8_E5M2}, {"s8", Type::INT8},   {"s32", Type::INT32},
      {"f8e8m0", Type::FP8_E8M0}, {"f4e2m1", Type::FP4_E2M1}, {"s64", Type::INT64}, {"bool", Type::BOOLEAN}};
  return Find(types, name);
}

// By cuDNN's own names.
fe::PointwiseMode_t PointwiseMode(const std::string& name) {
#define CUDNN_MODE(name) \
  { #name, fe::PointwiseMode_t::name }
  static const std::map<std::string, fe::PointwiseMode_t> modes{
      CUDNN_MODE(ABS),         CUDNN_MODE(ADD),          CUDNN_MODE(CEIL),
      CUDNN_MODE(COS),         CUDNN_MODE(DIV),          CUDNN_MODE(ELU_FWD),
      CUDNN_MODE(ERF),         CUDNN_MODE(EXP),          CUDNN_MODE(FLOOR),
      CUDNN_MODE(GELU_FWD),    CUDNN_MODE(IDENTITY),     CUDNN_MODE(LOG),
      CUDNN_MODE(MAX),         CUDNN_MODE(MIN),          CUDNN_MODE(MOD),
      CUDNN_MODE(MUL),         CUDNN_MODE(NEG),          CUDNN_MODE(POW),
      CUDNN_MODE(RECIPROCAL),  CUDNN_MODE(RELU_FWD),     CUDNN_MODE(RSQRT),
      CUDNN_MODE(SIN),         CUDNN_MODE(SQRT),         CUDNN_MODE(SUB),
      CUDNN_MODE(SIGMOID_FWD), CUDNN_MODE(SWISH_FWD),    CUDNN_MODE(TAN),
      CUDNN_MODE(TANH_FWD),    CUDNN_MODE(SOFTPLUS_FWD), CUDNN_MODE(GELU_APPROX_TANH_FWD)};
#undef CUDNN_MODE
  return Find(modes, name);
}

fe::ReductionMode_t ReductionMode(const std::string& name) {
  using Mode = fe::ReductionMode_t;
  static const std::map<std::string, Mode> modes{{"ADD", Mode::ADD},    {"MAX", Mode::MAX}, {"MIN", Mode::MIN},
                                                 {"AMAX", Mode::AMAX},  {"MUL", Mode::MUL}, {"NORM1", Mode::NORM1},
                                                 {"NORM2", Mode::NORM2}};
  return Find(modes, name);
}

fe::ResampleMode_t ResampleMode(const std::string& name) {
  using Mode = fe::ResampleMode_t;
  static const std::map<std::string, Mode> modes{{"MAXPOOL", Mode::MAXPOOL},
                                                 {"AVGPOOL_INCLUDE_PADDING", Mode::AVGPOOL_INCLUDE_PADDING},
                                                 {"AVGPOOL_EXCLUDE_PADDING", Mode::AVGPOOL_EXCLUDE_PADDING}};
  return Find(modes, name);
}

fe::DataType_t SumsOf(const Operation& operation, const Form& form) {
  return form.half_sums && operation.sums == "f32" ? fe::DataType_t::HALF : TypeOf(operation.sums);
}

template <class Attributes>
Attributes Convolved(Attributes attributes, const Operation& operation, const Form& form) {
  attributes.set_pre_padding(operation.pre_padding)
      .set_post_padding(operation.post_padding)
      .set_stride(operation.stride)
      .set_dilation(operation.dilation)
      .set_compute_data_type(SumsOf(operation, form));
  return attributes;
}

TensorPointer AddPointwise(const Operation& operation, const std::vector<TensorPointer>& of, fe::graph::Graph& graph) {
  fe::graph::Pointwise_attributes attributes;
  attributes.set_mode(PointwiseMode(operation.mode));
  if (operation.elu_alpha) attributes.set_elu_alpha(*operation.elu_alpha);
  if (operation.relu_slope) attributes.set_relu_lower_clip_slope(*operation.relu_slope);
  if (operation.relu_low) attributes.set_relu_lower_clip(*operation.relu_low);
  if (operation.relu_high) attributes.set_relu_upper_clip(*operation.relu_high);
  // A number is given to the kernel by value.
  if (operation.number) return graph.pointwise(of.at(0), graph.tensor(*operation.number), attributes);
  return of.size() == 1 ? graph.pointwise(of[0], attributes) : graph.pointwise(of.at(0), of.at(1), attributes);
}

TensorPointer AddPooling(const Operation& operation, const TensorPointer& x, fe::graph::Graph& graph) {
  const bool is_max = operation.mode == "MAXPOOL";
  return graph.resample(x, fe::graph::Resample_attributes()
                               .set_resampling_mode(ResampleMode(operation.mode))
                               .set_padding_mode(is_max ? fe::PaddingMode_t::NEG_INF_PAD : fe::PaddingMode_t::ZERO_PAD)
                               .set_window(operation.window)
                               .set_stride(operation.stride)
                               .set_pre_padding(operation.pre_padding)
                               .set_post_padding(operation.post_padding)
                               .set_generate_index(false))[0];
}

// `of`: rows, scale, bias; a root mean square may be without the bias.
TensorPointer AddNormalization(const Operation& operation, std::vector<TensorPointer> of, fe::graph::Graph& graph) {
  TensorPointer epsilon = graph.tensor(operation.number.value());
  if (operation.call == "layernorm") {
    fe::graph::Layernorm_attributes attributes;
    attributes.set_forward_phase(fe::NormFwdPhase_t::INFERENCE).set_epsilon(epsilon);
    return graph.layernorm(of.at(0), of.at(1), of.at(2), attributes)[0];
  }
  fe::graph::Rmsnorm_attributes attributes;
  attributes.set_forward_phase(fe::NormFwdPhase_t::INFERENCE).set_epsilon(epsilon);
  if (of.size() > 2) attributes.set_bias(of[2]);
  return graph.rmsnorm(of.at(0), of.at(1), attributes)[0];
}

template <class Attributes>
void SetMask(const Operation& operation, const std::vector<TensorPointer>& of, Attributes& attributes) {
  attributes.set_name("attention").set_generate_stats(false).set_attn_scale(operation.number.value());
  // Of as many queries as keys both corners are one, and more engines know the upper one.
  const bool is_square = of.at(0)->get_dim()[2] == of.at(1)->get_dim()[2];
  if (operation.causal && is_square) attributes.set_causal_mask(true);
  if (operation.causal && !is_square) attributes.set_causal_mask_bottom_right(true);
  if (operation.left_bound > 0) attributes.set_diagonal_band_left_bound(static_cast<int>(operation.left_bound));
}

// `of`: queries, keys, values, and perhaps a mask that is added to the scores.
TensorPointer AddAttention(const Operation& operation, const std::vector<TensorPointer>& of, fe::graph::Graph& graph) {
  fe::graph::SDPA_attributes attributes;
  SetMask(operation, of, attributes);
  if (of.size() > 3) attributes.set_bias(of[3]);
  return graph.sdpa(of.at(0), of.at(1), of.at(2), attributes)[0];
}

// `of`: queries, keys, values, and what all scales are. cuDNN also writes the largest weight and the largest result.
std::vector<TensorPointer> AddFloat8Attention(const Operation& operation, const std::vector<TensorPointer>& of,
                                              fe::graph::Graph& graph) {
  fe::graph::SDPA_fp8_attributes attributes;
  SetMask(operation, of, attributes);
  const TensorPointer& scale = of.at(3);
  const auto made = graph.sdpa_fp8(of[0], of[1], of[2], scale, scale, scale, scale, scale, scale, attributes);
  for (const TensorPointer& largest : {made[2], made[3]}) largest->set_dim({1, 1, 1, 1}).set_stride({1, 1, 1, 1});
  return {made[0], made[2], made[3]};
}

TensorPointer Add(const Operation& operation, const std::vector<TensorPointer>& of, const Form& form,
                  fe::graph::Graph& graph) {
  const std::string& call = operation.call;
  if (call == "conv_fprop")
    return graph.conv_fprop(of.at(0), of.at(1), Convolved(fe::graph::Conv_fprop_attributes(), operation, form));
  if (call == "conv_dgrad")
    return graph.conv_dgrad(of.at(0), of.at(1), Convolved(fe::graph::Conv_dgrad_attributes(), operation, form));
  if (call == "matmul") {
    return graph.matmul(of.at(0), of.at(1),
                        fe::graph::Matmul_attributes().set_compute_data_type(SumsOf(operation, form)));
  }
  if (call == "block_scale_dequantize") {
    const std::vector<std::int32_t> block(operation.window.begin(), operation.window.end());
    return graph.block_scale_dequantize(of.at(0), of.at(1),
                                        fe::graph::Block_scale_dequantize_attributes().set_block_size(block));
  }
  if (call == "pointwise") return AddPointwise(operation, of, graph);
  if (call == "reduction") {
    return graph.reduction(of.at(0), fe::graph::Reduction_attributes().set_mode(ReductionMode(operation.mode)));
  }
  if (call == "resample") return AddPooling(operation, of.at(0), graph);
  if (call == "layernorm" || call == "rmsnorm") return AddNormalization(operation, of, graph);
  if (call == "sdpa") return AddAttention(operation, of, graph);
  throw std::runtime_error("cuDNN's graph has no call '" + call + "'");
}

}  // namespace

Arguments AddOperations(const OperationGraph& layer, const Form& form, fe::graph::Graph& graph) {
  Arguments arguments;
  std::map<std::string, TensorPointer> made;
  std::int64_t uid = 1;
  for (const Tensor& tensor : layer.tensors) {
    const Dims room = RoomOf(tensor.dims, tensor.layout, form);
    fe::graph::Tensor_attributes attributes;
    attributes.set_name(tensor.name)
        .set_uid(uid++)
        .set_dim(room)
        .set_stride(StridesOf(room, tensor.layout, form))
        .set_data_type(TypeOf(tensor.type));
    if (tensor.layout == Layout::kScales || tensor.layout == Layout::kSecondScales)
      attributes.set_reordering_type(fe::TensorReordering_t::F8_128x4);
    made[tensor.name] = graph.tensor(attributes);
    arguments.tensors.push_back(made[tensor.name]);
  }
  for (const Operation& operation : layer.operations) {
    std::vector<TensorPointer> of;
    for (const std::string& name : operation.operands) of.push_back(Find(made, name));
    TensorPointer result;
    if (operation.call == "sdpa_fp8") {
      const std::vector<TensorPointer> results = AddFloat8Attention(operation, of, graph);
      result = results[0];
      made[operation.result + kLargestWeight] = results[1];
      made[operation.result + kLargestResult] = results[2];
    } else {
      result = Add(operation, of, form, graph);
    }
    const Dims room = RoomOf(operation.dims, operation.layout, form);
    result->set_dim(room).set_stride(StridesOf(room, operation.layout, form));
    if (!operation.result_type.empty()) result->set_data_type(TypeOf(operation.result_type));
    made[operation.result] = result;
  }
  for (const Output& output : layer.outputs) {
    const TensorPointer tensor = Find(made, output.name);
    tensor->set_output(true).set_data_type(TypeOf(output.type)).set_uid(uid++);
    arguments.outputs.push_back(tensor);
  }
  return arguments;
}

}  // namespace cudnn
