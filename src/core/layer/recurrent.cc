#include "src/core/layer/recurrent.h"

#include <array>

#include "src/core/layer/family.h"
#include "src/core/layer/field_text.h"

namespace infimum {
namespace {

constexpr std::array kRecurrentNames = {
    NamedValue<RecurrentKind>{RecurrentKind::kLstm, "lstm"},
    NamedValue<RecurrentKind>{RecurrentKind::kGru, "gru"},
    NamedValue<RecurrentKind>{RecurrentKind::kGruLinearBeforeReset, "gru_linear_before_reset"},
    NamedValue<RecurrentKind>{RecurrentKind::kRnnTanh, "rnn_tanh"},
    NamedValue<RecurrentKind>{RecurrentKind::kRnnRelu, "rnn_relu"},
};

// Activations, products and sums of one gate's element.
constexpr std::int64_t kElementwiseFlops = 7;
constexpr std::size_t kRecurrentWeights = 2;  // the operand r

Result<Work> ComputeWork(const RecurrentConfig& config) {
  const ExactCount inner = ExactCount(2) * (ExactCount(config.input) + config.hidden) + kElementwiseFlops;
  const ExactCount elements =
      ExactCount(config.directions) * config.sequence * config.batch * GateCount(config.kind) * config.hidden;
  INFIMUM_ASSIGN_OR_RETURN(const Flops flops, (elements * inner).AsFlops());
  Work work = WholeWork(OperandsOfFamily(config), OutputsOfFamily(config), flops);
  // The first step multiplies r with an initial state that is zero unless the model gives one, so that a
  // single step need not read r.
  if (config.sequence == 1) work.operand_reads[kRecurrentWeights] = Bytes{0};
  return work;
}

Status CheckFields(const RecurrentConfig& config) {
  INFIMUM_RETURN_IF_ERROR(CheckTypes(config.types, true));
  INFIMUM_RETURN_IF_ERROR(CheckRange("sequence", config.sequence, 1, kMaxElements));
  INFIMUM_RETURN_IF_ERROR(CheckRange("batch", config.batch, 1, kMaxElements));
  INFIMUM_RETURN_IF_ERROR(CheckRange("input", config.input, 1, kMaxElements));
  INFIMUM_RETURN_IF_ERROR(CheckRange("hidden", config.hidden, 1, kMaxElements));
  INFIMUM_RETURN_IF_ERROR(CheckRange("directions", config.directions, 1, 2));
  constexpr std::string_view kNames[] = {"the input's shape", "w's shape", "r's shape", "the bias's shape"};
  const std::vector<Operand> operands = OperandsOfFamily(config);
  for (std::size_t i = 0; i < operands.size(); ++i) INFIMUM_RETURN_IF_ERROR(CheckTensor(kNames[i], operands[i].shape));
  return CheckTensor("the output's shape", OutputsOfFamily(config)[0].shape);
}

}  // namespace

std::span<const NamedValue<RecurrentKind>> NamesOf(RecurrentKind) { return kRecurrentNames; }

std::int64_t GateCount(RecurrentKind kind) {
  switch (kind) {
    case RecurrentKind::kLstm:
      return 4;
    case RecurrentKind::kGru:
    case RecurrentKind::kGruLinearBeforeReset:
      return 3;
    case RecurrentKind::kRnnTanh:
    case RecurrentKind::kRnnRelu:
      return 1;
  }
  CheckFailed(__FILE__, __LINE__, "kind", "a recurrent kind is one of the enumerators");
}

Work WorkOf(const RecurrentConfig& config) { return ComputeWork(config).value(); }

Status Validate(const RecurrentConfig& config) {
  INFIMUM_RETURN_IF_ERROR(CheckFields(config));
  INFIMUM_RETURN_IF_ERROR(ComputeWork(config));
  return {};
}

// Shapes as ONNX has them; its bias holds one part for w and one for r.
std::vector<Operand> OperandsOfFamily(const RecurrentConfig& config) {
  const bool constant = config.weights == Constness::kConstant;
  const std::int64_t rows = GateCount(config.kind) * config.hidden;
  std::vector<Operand> operands = {
      {Shape{{config.sequence, config.batch, config.input}}, config.types.input, false},
      {Shape{{config.directions, rows, config.input}}, config.types.weights, constant},
      {Shape{{config.directions, rows, config.hidden}}, config.types.weights, constant},
  };
  if (config.bias) operands.push_back({Shape{{config.directions, 2 * rows}}, BiasType(config.types), constant});
  return operands;
}

std::vector<Operand> OutputsOfFamily(const RecurrentConfig& config) {
  return {{Shape{{config.sequence, config.directions, config.batch, config.hidden}}, config.types.output, false}};
}

}  // namespace infimum
