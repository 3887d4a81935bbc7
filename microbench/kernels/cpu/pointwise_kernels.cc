#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>

#include "microbench/kernels/cpu/broadcast_rows.h"
#include "microbench/kernels/cpu/cpu_kernels.h"
#include "microbench/kernels/cpu/vector/cpu_features.h"
#include "microbench/kernels/cpu/vector/vector_kernels.h"
#include "microbench/libraries/onednn/program/parallel.h"
#include "microbench/reference/values.h"

namespace infimum::cpu {
namespace {

// Elements that are converted, computed and stored at a time, so that they stay in the first cache.
constexpr std::int64_t kBlock = 1024;
constexpr std::int64_t kLeastPointwiseWork = 16384;

DataType StorageOf(ComputeType type) {
  constexpr DataType kInOrder[] = {DataType::kF32, DataType::kF64, DataType::kS32, DataType::kS64, DataType::kU8};
  return kInOrder[static_cast<std::size_t>(type)];
}

// Types that hold every value of `type`, the cheapest first.
std::vector<ComputeType> ComputeTypesFor(DataType type) {
  switch (type) {
    case DataType::kF32:
    case DataType::kF16:
    case DataType::kBF16:
      return {ComputeType::kF32};
    case DataType::kF64:
      return {ComputeType::kF64};
    case DataType::kBool:
      return {ComputeType::kU8};
    case DataType::kU8:
      return {ComputeType::kU8, ComputeType::kS32, ComputeType::kF32};
    case DataType::kS8:
    case DataType::kS16:
    case DataType::kU16:
      return {ComputeType::kS32, ComputeType::kF32};
    case DataType::kS32:
      return {ComputeType::kS32, ComputeType::kF64};
    case DataType::kU32:
    case DataType::kS64:
    case DataType::kU64:
      return {ComputeType::kS64, ComputeType::kF64};
    default:
      return {};
  }
}

// A block of an operand in the type it is computed in: itself, or converted into a buffer.
struct Loader {
  DataType from = DataType::kF32;
  ConvertRow convert = nullptr;
  DequantizeRow dequantize = nullptr;  // both null: used as it is
  int bytes = 4;
  QuantizeValues values = {};

  static Loader Make(DataType from, DataType to) {
    Loader loader{from, nullptr, nullptr, BytesPerElement(from)};
    const bool same = from == to || (from == DataType::kBool && to == DataType::kU8);
    if (!same) loader.convert = Kernels().find_convert(from, to);
    return loader;
  }
  // An 8-bit operand with a scale, as f32.
  static Loader Make(DataType from, const Quantization& quantization) {
    return {from, nullptr, Kernels().find_dequantize(from), BytesPerElement(from), KernelValues(from, quantization)};
  }
  bool converts() const { return convert != nullptr || dequantize != nullptr; }
  const void* Load(const void* base, std::int64_t element, std::int64_t count, void* buffer) const {
    const void* at = static_cast<const char*>(base) + element * bytes;
    if (!converts()) return at;
    if (dequantize != nullptr) {
      dequantize(at, static_cast<float*>(buffer), count, values);
    } else {
      convert(at, buffer, count);
    }
    return buffer;
  }
};

// How a block's results are stored: converted, or quantized, or (both null) as they are.
struct Storer {
  ConvertRow convert = nullptr;
  QuantizeRow quantize = nullptr;
  QuantizeValues values = {};

  bool converts() const { return convert != nullptr || quantize != nullptr; }
  void Store(const void* from, void* to, std::int64_t count) const {
    if (quantize != nullptr) return quantize(static_cast<const float*>(from), to, count, values);
    convert(from, to, count);
  }
};

using Block = std::array<double, kBlock>;  // room for any type, aligned

// Calls function(row, begin, length) for pieces of rows, in all threads.
template <class Function>
void ForPieces(const BroadcastRows& rows, std::int64_t piece, const Function& function) {
  const std::int64_t pieces = (rows.length() + piece - 1) / piece;
  ParallelEach(rows.count() * pieces, kLeastPointwiseWork, std::min(piece, rows.length()), [&](std::int64_t i) {
    const std::int64_t row = i / pieces, begin = i % pieces * piece;
    function(row, begin, std::min(piece, rows.length() - begin));
  });
}

struct Computation {
  ComputeType type = ComputeType::kF32;
  UnaryRow unary = nullptr;
  BinaryRow binary = nullptr;
  DataType result = DataType::kF32;  // of one block, before it is converted for storage
};

// Sums and products on 8 bits saturate, as they do where elements have scales; kernels of integers wrap.
bool Saturates(const PointwiseConfig& config) {
  const bool leaves_range = config.kind == PointwiseKind::kAdd || config.kind == PointwiseKind::kSubtract ||
                            config.kind == PointwiseKind::kMultiply;
  return leaves_range && IsInteger(config.types.output) && BitsPerElement(config.types.output) == 8;
}

std::optional<Computation> FindComputation(const PointwiseConfig& config) {
  for (const ComputeType type : ComputeTypesFor(config.types.input)) {
    if (Saturates(config) && type != ComputeType::kF32) continue;
    Computation found;
    found.type = type;
    found.result = ReturnsTruth(config.kind) ? DataType::kBool : StorageOf(type);
    if (config.inputs.size() == 1) found.unary = Kernels().find_unary(config.kind, type);
    if (config.inputs.size() == 1 && OperandsOf(config.kind).most > 1) {
      found.unary = Kernels().find_unary(PointwiseKind::kIdentity, type);
    }
    if (config.inputs.size() > 1) found.binary = Kernels().find_binary(config.kind, type);
    if (found.unary != nullptr || found.binary != nullptr) return found;
  }
  return std::nullopt;
}

MadeProgram MakeArithmetic(const PointwiseConfig& config, const LayerValues& values, const Computation& computation,
                           const Problem& problem) {
  const BroadcastRows rows(OutputShape(config), config.inputs);
  std::vector<Loader> loaders;
  for (std::size_t i = 0; i < config.inputs.size(); ++i) {
    const DataType type = problem.operands[i]->type();
    loaders.push_back(i < values.operands.size() ? Loader::Make(type, values.operands[i])
                                                 : Loader::Make(type, StorageOf(computation.type)));
  }
  const DataType output_type = problem.outputs[0]->type();
  const bool stored_as_is =
      computation.result == output_type || (BytesPerElement(computation.result) == 1 && output_type == DataType::kBool);
  Storer store;
  if (values.output) {
    store.quantize = Kernels().find_quantize(output_type);
    store.values = KernelValues(output_type, *values.output);
  } else if (!stored_as_is) {
    store.convert = Kernels().find_convert(computation.result, output_type);
  }
  const bool converts = store.converts() || config.inputs.size() > 2 ||
                        std::ranges::any_of(loaders, [](const Loader& l) { return l.converts(); });
  const std::int64_t piece = converts ? kBlock : 16 * kBlock;
  return MakeProgram(problem, [=, operands = problem.operands, output = problem.outputs[0]] {
    ForPieces(rows, piece, [&](std::int64_t row, std::int64_t begin, std::int64_t length) {
      Block left, right, result;
      void* const target =
          static_cast<char*>(output->data()) + (row * rows.length() + begin) * BytesPerElement(output->type());
      void* const to = !store.converts() && config.inputs.size() <= 2 ? target : result.data();
      const auto load = [&](std::size_t i, Block& buffer) {
        const int step = rows.step(i);
        return loaders[i].Load(operands[i]->data(), rows.Offset(i, row) + (step == 1 ? begin : 0),
                               step == 1 ? length : 1, buffer.data());
      };
      if (computation.unary != nullptr) {
        computation.unary(load(0, left), to, length);
      } else {
        computation.binary(load(0, left), rows.step(0), load(1, right), rows.step(1), to, length);
        for (std::size_t i = 2; i < config.inputs.size(); ++i) {
          // The result so far is copied out of the way: kernels read and write different memory.
          std::copy(result.begin(), result.begin() + (length * BytesPerElement(computation.result) + 7) / 8,
                    left.begin());
          computation.binary(left.data(), 1, load(i, right), rows.step(i), to, length);
        }
        if (config.kind == PointwiseKind::kMean && computation.type == ComputeType::kF32) {
          Kernels().affine_row(static_cast<const float*>(to), 1.0F / static_cast<float>(config.inputs.size()), 0,
                               reinterpret_cast<float*>(left.data()), length);
          std::copy_n(reinterpret_cast<const float*>(left.data()), length, static_cast<float*>(to));
        } else if (config.kind == PointwiseKind::kMean) {
          for (std::int64_t i = 0; i < length; ++i) {
            HostTensor::SetElement(
                to, computation.result, i,
                HostTensor::GetElement(to, computation.result, i) / static_cast<double>(config.inputs.size()));
          }
        }
      }
      if (store.converts()) {
        store.Store(to, target, length);
      } else if (to != target) {
        std::copy_n(static_cast<const char*>(to), length * BytesPerElement(output->type()), static_cast<char*>(target));
      }
    });
  });
}

// Whether each 8-bit operand and the result have a scale and a kernel.
bool CanConvert(const PointwiseConfig& config, const LayerValues& values) {
  if (values.operands.size() != config.inputs.size() || !values.output) return false;
  const VectorKernels& kernels = Kernels();
  const DataType second = config.types.weights == DataType::kNone ? config.types.input : config.types.weights;
  return kernels.find_dequantize(config.types.input) != nullptr && kernels.find_dequantize(second) != nullptr &&
         kernels.find_quantize(config.types.output) != nullptr;
}

// Results larger than all caches may be written past them; whether that is faster is measured. Of smaller ones a time
// by itself does not tell what the layer behind loses that reads them: in an EfficientNet-B0 three convolutions took
// 0.31 ms longer, where the writing had won 0.02 ms.
bool CanStream(const PointwiseConfig& config) {
  const bool floats = config.types.input == DataType::kF32 && config.types.output == DataType::kF32 &&
                      (config.inputs.size() == 1 || config.types.weights == DataType::kF32);
  if (!floats || ElementCount(OutputShape(config)) * 4 <= std::max(Features().l2, Features().l3)) return false;
  return config.inputs.size() == 1
             ? Kernels().find_unary_streamed(config.kind) != nullptr
             : config.inputs.size() == 2 && Kernels().find_binary_streamed(config.kind) != nullptr;
}

MadeProgram MakeStreamed(const PointwiseConfig& config, const Problem& problem) {
  const BroadcastRows rows(OutputShape(config), config.inputs);
  const UnaryRow unary = Kernels().find_unary_streamed(config.kind);
  const BinaryRow binary = Kernels().find_binary_streamed(config.kind);
  return MakeProgram(problem, [=, operands = problem.operands, output = problem.outputs[0]] {
    ForPieces(rows, 16 * kBlock, [&](std::int64_t row, std::int64_t begin, std::int64_t length) {
      const auto at = [&](std::size_t i) {
        return operands[i]->As<float>() + rows.Offset(i, row) + (rows.step(i) == 1 ? begin : 0);
      };
      float* const to = output->As<float>() + row * rows.length() + begin;
      if (operands.size() == 1) {
        unary(at(0), to, length);
      } else {
        binary(at(0), rows.step(0), at(1), rows.step(1), to, length);
      }
    });
    // Other threads' streams are drained by the barrier at the end of their parallel region.
    std::atomic_thread_fence(std::memory_order_seq_cst);
  });
}

MadeProgram MakeWhere(const PointwiseConfig& config, const Problem& problem) {
  const BroadcastRows rows(OutputShape(config), config.inputs);
  const int bytes = BytesPerElement(problem.outputs[0]->type());
  const WhereRow where = Kernels().find_where(bytes);
  return MakeProgram(problem, [=, operands = problem.operands, output = problem.outputs[0]] {
    ForPieces(rows, 16 * kBlock, [&](std::int64_t row, std::int64_t begin, std::int64_t length) {
      const auto at = [&](std::size_t i, int size) {
        return static_cast<const char*>(operands[i]->data()) +
               (rows.Offset(i, row) + (rows.step(i) == 1 ? begin : 0)) * size;
      };
      where(reinterpret_cast<const std::uint8_t*>(at(0, 1)), rows.step(0), at(1, bytes), rows.step(1), at(2, bytes),
            rows.step(2), static_cast<char*>(output->data()) + (row * rows.length() + begin) * bytes, length);
    });
  });
}

// Quantise, dequantise and requantise: a load into f32, a scale, a store.
MadeProgram MakeConversion(const PointwiseConfig& config, const LayerValues& own, const Problem& problem) {
  const DataType from = problem.operands[0]->type(), to = problem.outputs[0]->type();
  const std::int64_t count = problem.outputs[0]->count();
  const VectorKernels& kernels = Kernels();
  const BroadcastRows rows(Shape{{count}}, {Shape{{count}}});
  const auto unsupported = [&]() -> Error {
    return Error{"unsupported: no conversion from " + std::string(Name(from)) + " to " + std::string(Name(to))};
  };
  const auto pieces = [=, input = problem.operands[0], output = problem.outputs[0]](std::int64_t piece, auto function) {
    ForPieces(rows, piece, [&](std::int64_t, std::int64_t begin, std::int64_t length) {
      function(static_cast<const char*>(input->data()) + begin * BytesPerElement(from),
               static_cast<char*>(output->data()) + begin * BytesPerElement(to), length);
    });
  };
  if (config.kind == PointwiseKind::kCast) {
    const ConvertRow convert = kernels.find_convert(from, to);
    if (convert == nullptr) return unsupported();
    return MakeProgram(problem, [=] { pieces(16 * kBlock, convert); });
  }
  if (config.kind == PointwiseKind::kQuantize) {
    const QuantizeRow quantize = kernels.find_quantize(to);
    const ConvertRow load = from == DataType::kF32 ? nullptr : kernels.find_convert(from, DataType::kF32);
    if (quantize == nullptr || (load == nullptr && from != DataType::kF32)) return unsupported();
    const QuantizeValues values = KernelValues(to, OutputQuantization(config.kind, config.types, own));
    return MakeProgram(problem, [=] {
      pieces(kBlock, [&](const void* x, void* y, std::int64_t length) {
        std::array<float, kBlock> buffer;
        if (load != nullptr) load(x, buffer.data(), length);
        quantize(load != nullptr ? buffer.data() : static_cast<const float*>(x), y, length, values);
      });
    });
  }
  const DequantizeRow dequantize = kernels.find_dequantize(from);
  if (dequantize == nullptr) return unsupported();
  const QuantizeValues values = KernelValues(from, InputQuantization(config.types, own));
  if (config.kind == PointwiseKind::kRequantize) {
    const QuantizeRow quantize = kernels.find_quantize(to);
    if (quantize == nullptr) return unsupported();
    const QuantizeValues stored = KernelValues(to, OutputQuantization(config.kind, config.types, own));
    return MakeProgram(problem, [=] {
      pieces(kBlock, [&](const void* x, void* y, std::int64_t length) {
        std::array<float, kBlock> buffer;
        dequantize(x, buffer.data(), length, values);
        quantize(buffer.data(), y, length, stored);
      });
    });
  }
  const ConvertRow store = to == DataType::kF32 ? nullptr : kernels.find_convert(DataType::kF32, to);
  return MakeProgram(problem, [=] {
    pieces(kBlock, [&](const void* x, void* y, std::int64_t length) {
      std::array<float, kBlock> buffer;
      dequantize(x, store == nullptr ? static_cast<float*>(y) : buffer.data(), length, values);
      if (store != nullptr) store(buffer.data(), y, length);
    });
  });
}

// The scale follows from the smallest and largest element: two passes.
MadeProgram MakeDynamicQuantize(const Problem& problem) {
  const HostTensor* input = problem.operands[0];
  HostTensor* output = problem.outputs[0];
  if (input->type() != DataType::kF32 || output->type() != DataType::kU8) {
    return Error{"unsupported: a dynamic quantisation is from f32 to u8"};
  }
  return MakeProgram(problem, [=] {
    const VectorKernels& kernels = Kernels();
    const std::int64_t count = input->count();
    const float* x = input->As<float>();
    float low = 0, high = 0;
#pragma omp parallel for reduction(min : low) reduction(max : high) if (count > kLeastPointwiseWork)
    for (std::int64_t begin = 0; begin < count; begin += 16 * kBlock) {
      const std::int64_t length = std::min(16 * kBlock, count - begin);
      low = std::min(low, kernels.minimum_row(x + begin, length));
      high = std::max(high, kernels.maximum_row(x + begin, length));
    }
    const float scale = high > low ? (high - low) / 255 : 1;
    const float zero = std::nearbyint(std::clamp(-low / scale, 0.0F, 255.0F));
    ParallelRanges(count, kLeastPointwiseWork, [&](std::int64_t begin, std::int64_t end) {
      kernels.find_quantize(DataType::kU8)(x + begin, output->As<std::uint8_t>() + begin, end - begin,
                                           {scale, zero, 0, 255});
    });
  });
}

}  // namespace

Offer KernelOffer(const std::string& name, std::function<MadeProgram(const Problem&)> make) {
  return {{"infimum", name + ":" + Kernels().name, "plain", "plain", false}, std::move(make)};
}

std::vector<Offer> PointwiseKernelOffers(const PointwiseConfig& config, const LayerValues& values) {
  if (!AreUsual(config.kind, values)) return {};
  const auto offer = [](auto make) { return std::vector<Offer>{KernelOffer("pointwise", make)}; };
  const bool is_test = config.kind == PointwiseKind::kIsNaN || config.kind == PointwiseKind::kIsInf;
  if (values.quantized() && (is_test || config.kind == PointwiseKind::kWhere)) return {};
  switch (config.kind) {
    case PointwiseKind::kWhere:
      return offer([config](const Problem& problem) { return MakeWhere(config, problem); });
    case PointwiseKind::kIsNaN:
    case PointwiseKind::kIsInf:
      if (!IsFloatingPoint(config.types.input)) return {};
      break;
    case PointwiseKind::kCast:
    case PointwiseKind::kQuantize:
    case PointwiseKind::kDequantize:
    case PointwiseKind::kRequantize:
      return offer([config, values](const Problem& problem) { return MakeConversion(config, values, problem); });
    case PointwiseKind::kDynamicQuantize:
      return offer(MakeDynamicQuantize);
    default:
      break;
  }
  // With scales the arithmetic is done on dequantized values.
  PointwiseConfig computed = config;
  if (values.quantized()) computed.types = {DataType::kF32, DataType::kF32, DataType::kF32};
  const std::optional<Computation> computation = FindComputation(computed);
  if (!computation || (values.quantized() && !CanConvert(config, values))) return {};
  std::vector<Offer> offers = offer([config, values, computation = *computation](const Problem& problem) {
    return MakeArithmetic(config, values, computation, problem);
  });
  if (CanStream(config)) {
    offers.push_back(
        KernelOffer("pointwise-stream", [config](const Problem& problem) { return MakeStreamed(config, problem); }));
  }
  return offers;
}

QuantizeValues KernelValues(DataType type, const Quantization& quantization) {
  const IntegerRange range = RangeOf(type);
  return {static_cast<float>(quantization.scale()), static_cast<float>(quantization.zero()),
          static_cast<float>(range.least), static_cast<float>(range.most)};
}

}  // namespace infimum::cpu
