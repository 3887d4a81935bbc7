#include "microbench/libraries/cudnn_legacy/calls/legacy_recurrent.h"

#include <algorithm>

namespace cudnn {
namespace {

constexpr std::pair<cudnnRNNAlgo_t, const char*> kRecurrentAlgorithms[] = {
    {CUDNN_RNN_ALGO_STANDARD, "standard"},
    {CUDNN_RNN_ALGO_PERSIST_STATIC, "persist_static"},
    {CUDNN_RNN_ALGO_PERSIST_DYNAMIC, "persist_dynamic"},
    {CUDNN_RNN_ALGO_PERSIST_STATIC_SMALL_H, "persist_static_small_h"}};
constexpr std::pair<const char*, cudnnRNNMode_t> kCells[] = {{"lstm", CUDNN_LSTM},
                                                             {"gru_linear_before_reset", CUDNN_GRU},
                                                             {"rnn_tanh", CUDNN_RNN_TANH},
                                                             {"rnn_relu", CUDNN_RNN_RELU}};

cudnnRNNMode_t CellOf(const std::string& mode) {
  for (const auto& [name, cell] : kCells)
    if (mode == name) return cell;
  throw std::runtime_error("unsupported: cuDNN has no cell " + mode);
}

// FMA for strict f32 and f64, Tensor Cores for 16 bits, whatever the library likes for tf32.
cudnnMathType_t MathOf(const std::string& type, const std::string& contract) {
  if (type == "f16" || type == "bf16") return CUDNN_TENSOR_OP_MATH;
  return contract == "tf32" ? CUDNN_DEFAULT_MATH : CUDNN_FMA_MATH;
}

}  // namespace

std::vector<LegacyWay> RecurrentWays(const OperationGraph& layer, const std::string& contract) {
  std::vector<LegacyWay> ways;
  if (layer.operations.size() != 1 || layer.operations[0].call != "rnn") return ways;
  const cudnnMathType_t math = MathOf(layer.tensors[0].type, contract);
  for (const auto& [algorithm, name] : kRecurrentAlgorithms) {
    LegacyWay way;
    way.name = std::string("rnn/") + name + (math == CUDNN_TENSOR_OP_MATH ? "/tensor_op" : "");
    way.algorithm = algorithm;
    way.math = math;
    ways.push_back(way);
  }
  return ways;
}

RecurrentCall::RecurrentCall(const OperationGraph& layer, const LegacyWay& way, cudnnHandle_t handle)
    : handle_(handle) {
  const Operation& operation = layer.operations[0];
  const cudnnDataType_t type = LegacyTypeOf(layer.tensors[0].type);
  const bool is_of_one_type = layer.outputs[0].type == layer.tensors[0].type &&
                              std::all_of(layer.tensors.begin(), layer.tensors.end(),
                                          [&](const Tensor& tensor) { return tensor.type == layer.tensors[0].type; });
  if (!is_of_one_type) throw std::runtime_error("unsupported: cuDNN's recurrent layers have one type for all");
  const std::vector<int> read = Ints(layer.tensors[0].dims), written = Ints(operation.dims);
  const int steps = read[0], batch = read[1], input = read[2], directions = written[1], hidden = written[3];
  Check(CUDNN_FUNCTION(cudnnSetDropoutDescriptor)(dropout_.get(), handle, 0, nullptr, 0, 0), "describing no dropout");
  const cudnnDataType_t sums = type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT;
  Check(CUDNN_FUNCTION(cudnnSetRNNDescriptor_v8)(
            layer_.get(), static_cast<cudnnRNNAlgo_t>(way.algorithm), CellOf(operation.mode),
            layer.tensors.size() > 3 ? CUDNN_RNN_DOUBLE_BIAS : CUDNN_RNN_NO_BIAS,
            directions == 2 ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL, CUDNN_LINEAR_INPUT, type, sums, way.math,
            input, hidden, hidden, 1, dropout_.get(), CUDNN_RNN_PADDED_IO_DISABLED),
        "describing it");
  const std::vector<int> lengths(static_cast<std::size_t>(batch), steps);
  const auto set_data = [&](cudnnRNNDataDescriptor_t data, int width) {
    Check(CUDNN_FUNCTION(cudnnSetRNNDataDescriptor)(data, type, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED, steps, batch,
                                                    width, lengths.data(), nullptr),
          "describing a sequence");
  };
  set_data(x_.get(), input);
  set_data(y_.get(), hidden * directions);
  Check(CUDNN_FUNCTION(cudnnSetTensorNdDescriptor)(state_.get(), type, 3, std::vector{directions, batch, hidden}.data(),
                                                   std::vector{batch * hidden, hidden, 1}.data()),
        "describing a state");
  if (way.algorithm == CUDNN_RNN_ALGO_PERSIST_DYNAMIC)
    Check(CUDNN_FUNCTION(cudnnBuildRNNDynamic)(handle, layer_.get(), batch), "compiling it");
  std::size_t reserve = 0;
  Check(CUDNN_FUNCTION(cudnnGetRNNTempSpaceSizes)(handle, layer_.get(), CUDNN_FWD_MODE_INFERENCE, x_.get(), &workspace_,
                                                  &reserve),
        "asking for its scratch memory");
  Check(CUDNN_FUNCTION(cudnnGetRNNWeightSpaceSize)(handle, layer_.get(), &weights_), "asking for its weights");
}

WeightPlace RecurrentCall::PlaceOf(int direction, int gate, void* weights) const {
  const Descriptor<cudnnTensorDescriptor_t> matrix = CUDNN_DESCRIPTOR(TensorDescriptor);
  const Descriptor<cudnnTensorDescriptor_t> bias = CUDNN_DESCRIPTOR(TensorDescriptor);
  WeightPlace place;
  Check(CUDNN_FUNCTION(cudnnGetRNNWeightParams)(handle_, layer_.get(), direction, weights_, weights, gate, matrix.get(),
                                                &place.matrix, bias.get(), &place.bias),
        "asking where its weights lie");
  return place;
}

void RecurrentCall::Run(const std::vector<void*>& tensors, void* result, void* workspace) const {
  Check(CUDNN_FUNCTION(cudnnRNNForward)(handle_, layer_.get(), CUDNN_FWD_MODE_INFERENCE, nullptr, x_.get(), tensors[0],
                                        y_.get(), result, state_.get(), nullptr, nullptr, state_.get(), nullptr,
                                        nullptr, weights_, tensors[1], workspace_, workspace, 0, nullptr),
        "running");
}

std::unique_ptr<LegacyCall> MakeLegacyCall(const OperationGraph& layer, const LegacyWay& way, cudnnHandle_t handle) {
  const std::string& call = layer.operations.at(0).call;
  if (call == "rnn") return std::make_unique<RecurrentCall>(layer, way, handle);
  return call == "conv_fprop" ? MakeConvolution(layer, way, handle) : MakeStatistic(layer, way, handle);
}

}  // namespace cudnn
