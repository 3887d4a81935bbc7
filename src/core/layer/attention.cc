#include "src/core/layer/attention.h"

#include <algorithm>
#include <array>

#include "src/core/layer/family.h"
#include "src/core/layer/field_text.h"

namespace infimum {
namespace {

constexpr std::array kMaskNames = {
    NamedValue<AttentionMask>{AttentionMask::kNone, "no"},
    NamedValue<AttentionMask>{AttentionMask::kCausal, "causal"},
    NamedValue<AttentionMask>{AttentionMask::kFull, "full"},
};

std::int64_t ValueHead(const AttentionConfig& config) {
  return config.value_head == 0 ? config.head : config.value_head;
}

// Rows of q that see at least one position: with a causal mask and more queries than keys, the first see none.
std::int64_t SeeingRows(const AttentionConfig& config) {
  return config.mask == AttentionMask::kCausal ? std::min(config.q, config.kv) : config.q;
}

// first + 1, first + 2, ..., last, added up; one of the factors is even.
ExactCount SumBetween(std::int64_t first, std::int64_t last) {
  const std::int64_t terms = last - first, ends = first + last + 1;
  return terms % 2 == 0 ? ExactCount(terms / 2) * ends : ExactCount(terms) * (ends / 2);
}

// (query, key) pairs that the mask leaves. The last of the seeing rows sees all kv or the window, each one before it
// one less where the window is not full.
ExactCount UnmaskedPairs(const AttentionConfig& config) {
  if (config.mask != AttentionMask::kCausal) return ExactCount(config.q) * config.kv;
  const std::int64_t rows = SeeingRows(config), first = config.kv - rows;  // that one less than the first row sees
  const std::int64_t window = config.window == 0 ? config.kv : config.window;
  if (window <= first) return ExactCount(rows) * window;
  return SumBetween(first, window) + ExactCount(config.kv - window) * window;
}

// Of keys and values: those before the first query's window are seen by none.
std::int64_t SeenPositions(const AttentionConfig& config) { return config.kv - SeenBy(config, 0).begin; }

Status CheckMasks(const AttentionConfig& config) {
  constexpr std::size_t kMostMasks = 4;
  if (config.masks.empty()) return {};
  if (config.mask != AttentionMask::kFull) return Error{"masks are operands of mask=full, remove them"};
  if (config.masks.size() > kMostMasks) return Error{"masks has more than " + std::to_string(kMostMasks) + " shapes"};
  for (const Shape& mask : config.masks) {
    INFIMUM_RETURN_IF_ERROR(CheckTensor("masks", mask));
    const bool fits = mask.rank() == 4 && config.batch % mask.dims[0] == 0 &&
                      (mask.dims[1] == 1 || mask.dims[1] == config.heads) &&
                      (mask.dims[2] == 1 || mask.dims[2] == config.q) && mask.dims[3] == config.kv;
    if (!fits) return Error{"masks has " + Format(mask) + ", which does not fit n x heads x q x kv"};
  }
  return {};
}

Result<Work> ComputeWork(const AttentionConfig& config) {
  const ExactCount flops_of_a_pair = ExactCount(2) * config.head + ExactCount(2) * ValueHead(config) + 5;
  const ExactCount heads = ExactCount(config.batch) * config.heads;
  Work work = WholeWork(OperandsOfFamily(config), OutputsOfFamily(config));
  INFIMUM_ASSIGN_OR_RETURN(work.direct, (heads * config.q * config.kv * flops_of_a_pair).AsFlops());
  INFIMUM_ASSIGN_OR_RETURN(work.conventional, (heads * UnmaskedPairs(config) * flops_of_a_pair).AsFlops());
  // At most the elements of q, so it cannot overflow.
  const std::int64_t read_queries = (heads * SeeingRows(config) * config.head).ValueOr(0);
  work.operand_reads[0] = SizeOf(config.types.input, read_queries);
  const ExactCount positions = ExactCount(config.batch) * config.kv_heads * SeenPositions(config);
  work.operand_reads[1] = SizeOf(config.types.input, (positions * config.head).ValueOr(0));
  work.operand_reads[2] = SizeOf(config.types.input, (positions * ValueHead(config)).ValueOr(0));
  return work;
}

Status CheckFields(const AttentionConfig& config) {
  INFIMUM_RETURN_IF_ERROR(CheckTypes(config.types, config.types.weights != DataType::kNone));
  if (config.mask != AttentionMask::kFull && config.types.weights != DataType::kNone)
    return Error{"dtype has a type for a mask that is not an operand: write '-' between the ':', or mask=full"};
  INFIMUM_RETURN_IF_ERROR(CheckRange("n", config.batch, 1, kMaxElements));
  INFIMUM_RETURN_IF_ERROR(CheckRange("heads", config.heads, 1, kMaxElements));
  INFIMUM_RETURN_IF_ERROR(CheckRange("kv_heads", config.kv_heads, 1, kMaxElements));
  INFIMUM_RETURN_IF_ERROR(CheckRange("q", config.q, 1, kMaxElements));
  INFIMUM_RETURN_IF_ERROR(CheckRange("kv", config.kv, 1, kMaxElements));
  INFIMUM_RETURN_IF_ERROR(CheckRange("head", config.head, 1, kMaxElements));
  INFIMUM_RETURN_IF_ERROR(CheckRange("value_head", config.value_head, 0, kMaxElements));
  INFIMUM_RETURN_IF_ERROR(CheckRange("window", config.window, 0, config.kv));
  if (config.window > 0 && config.mask != AttentionMask::kCausal)
    return Error{"window=" + std::to_string(config.window) + " is of mask=causal"};
  if (config.heads % config.kv_heads != 0)
    return Error{"kv_heads=" + std::to_string(config.kv_heads) +
                 " does not divide heads=" + std::to_string(config.heads)};
  INFIMUM_RETURN_IF_ERROR(CheckMasks(config));
  constexpr std::string_view kNames[] = {"q's shape", "k's shape", "v's shape", "the mask's shape"};
  const std::vector<Operand> operands = OperandsOfFamily(config);
  for (std::size_t i = 0; i < operands.size(); ++i)
    INFIMUM_RETURN_IF_ERROR(CheckTensor(kNames[std::min<std::size_t>(i, 3)], operands[i].shape));
  return CheckTensor("the output's shape", OutputsOfFamily(config)[0].shape);
}

}  // namespace

std::span<const NamedValue<AttentionMask>> NamesOf(AttentionMask) { return kMaskNames; }

std::vector<Shape> MaskShapes(const AttentionConfig& config) {
  if (config.mask != AttentionMask::kFull) return {};
  return config.masks.empty() ? std::vector{Shape{{1, 1, config.q, config.kv}}} : config.masks;
}

std::int64_t MaskRow(const Shape& mask, std::int64_t batch, std::int64_t head, std::int64_t query) {
  const std::int64_t matrix = batch % mask.dims[0] * mask.dims[1] + head % mask.dims[1];
  return matrix * mask.dims[2] + query % mask.dims[2];
}

Positions SeenBy(const AttentionConfig& config, std::int64_t query) {
  if (config.mask != AttentionMask::kCausal) return {0, config.kv};
  const std::int64_t end = std::clamp<std::int64_t>(config.kv - config.q + query + 1, 0, config.kv);
  return {config.window == 0 ? 0 : std::max<std::int64_t>(0, end - config.window), end};
}

AttentionConfig Canonicalize(AttentionConfig config) {
  if (config.window >= config.kv) config.window = 0;
  if (config.masks == std::vector{Shape{{1, 1, config.q, config.kv}}}) config.masks.clear();
  return config;
}

Work WorkOf(const AttentionConfig& config) { return ComputeWork(config).value(); }

Status Validate(const AttentionConfig& config) {
  INFIMUM_RETURN_IF_ERROR(CheckFields(config));
  INFIMUM_RETURN_IF_ERROR(ComputeWork(config));
  return {};
}

std::vector<Operand> OperandsOfFamily(const AttentionConfig& config) {
  const DataType type = config.types.input;
  std::vector<Operand> operands = {
      {Shape{{config.batch, config.heads, config.q, config.head}}, type, false},
      {Shape{{config.batch, config.kv_heads, config.kv, config.head}}, type, false},
      {Shape{{config.batch, config.kv_heads, config.kv, ValueHead(config)}}, type, false},
  };
  // Of q's type, unless dtype names another between the ':'.
  const DataType mask_type = config.types.weights == DataType::kNone ? type : config.types.weights;
  for (const Shape& mask : MaskShapes(config))
    operands.push_back({config.masks.empty() ? Shape{{config.q, config.kv}} : mask, mask_type, false});
  return operands;
}

std::vector<Operand> OutputsOfFamily(const AttentionConfig& config) {
  return {{Shape{{config.batch, config.heads, config.q, ValueHead(config)}}, config.types.output, false}};
}

}  // namespace infimum
