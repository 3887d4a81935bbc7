#include "microbench/cpu/peaks.h"

#include <omp.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "infimum/base/clock.h"
#include "infimum/base/text.h"
#include "microbench/cpu/device/memory_peaks.h"
#include "microbench/cpu/offers.h"
#include "microbench/kernels/cpu/vector/cpu_features.h"
#include "microbench/kernels/cpu/vector/matrix_peaks.h"
#include "microbench/kernels/cpu/vector/vector_kernels.h"
#include "microbench/reference/host_tensor.h"
#include "microbench/reference/random_fill.h"

namespace infimum::cpu {
namespace {

// How long each way to a rate is tried: the first answer waits for all of them, and what layers show later
// raises a peak that was caught too low.
constexpr double kArithmeticSeconds = 0.05;
constexpr std::string_view kMemoryProbe = "memory";
constexpr std::string_view kFirstMemoryProbe = "memory at first";

double Seconds(Clock::Duration duration) { return std::chrono::duration<double>(duration).count(); }

// The best of several runs: `work` is done by all threads at once and returns its amount.
double BestRate(std::int64_t threads, double least_seconds, const std::function<double(std::int64_t, int)>& work) {
  double best = 0;
  std::int64_t rounds = 1;
  double spent = 0;
  for (int run = 0; spent < least_seconds || run < 3; ++run) {
    double amount = 0;
    const Clock::Duration begin = SteadyClock().Now();
#pragma omp parallel num_threads(static_cast <int>(threads)) reduction(+ : amount)
    amount += work(rounds, omp_get_thread_num());
    const double seconds = std::max(Seconds(SteadyClock().Now() - begin), 1e-9);
    spent += seconds;
    // Short runs only find out how many rounds make a millisecond.
    if (seconds < 5e-4) {
      rounds *= 4;
      --run;
    } else {
      best = std::max(best, amount / seconds);
    }
    if (spent > 2) break;
  }
  return best;
}

// One way to the peak of a type: `run` computes for some rounds and returns how many operations that were.
struct Arithmetic {
  std::string name;
  std::vector<DataType> types;
  std::function<double(std::int64_t)> run;
};

// The types that are computed as f32 where the processor has nothing of their own.
std::vector<DataType> FloatTypes() { return {DataType::kF32, DataType::kF16, DataType::kBF16}; }

std::vector<Arithmetic> ArithmeticOf(const CpuFeatures& features) {
  std::vector<Arithmetic> all;
  const VectorKernels& kernels = Kernels();
  const auto add = [&](const char* name, std::vector<DataType> types, std::function<double(std::int64_t)> run) {
    all.push_back({name, std::move(types), std::move(run)});
  };
  add("f32 vectors", FloatTypes(), [&kernels](std::int64_t rounds) {
    float sink = 0;
    const double done = kernels.multiply_add_f32(rounds * 256, &sink);
    return sink > 1e30F ? 0 : done;
  });
  add("f64 vectors", {DataType::kF64}, [&kernels](std::int64_t rounds) {
    double sink = 0;
    const double done = kernels.multiply_add_f64(rounds * 256, &sink);
    return sink > 1e300 ? 0 : done;
  });
  const auto integers = [&](const char* name, double (*run)(std::int64_t, std::int32_t*)) {
    add(name, {DataType::kS8, DataType::kU8}, [run](std::int64_t rounds) {
      std::int32_t sink = 0;
      return run(rounds * 256, &sink) + (sink == 12345 ? 1 : 0);
    });
  };
  integers("s8 vectors", kernels.multiply_add_s8);
  if (features.avx512_vnni) integers("s8 dot products (avx512_vnni)", DotS8Avx512Vnni);
  if (features.avx_vnni) integers("s8 dot products (avx_vnni)", DotS8AvxVnni);
  const auto floats = [&](const char* name, DataType type, double (*run)(std::int64_t, float*)) {
    add(name, {type}, [run](std::int64_t rounds) {
      float sink = 0;
      return run(rounds * 256, &sink) + (sink == 12345.0F ? 1 : 0);
    });
  };
  if (features.avx512_bf16) floats("bf16 dot products (avx512_bf16)", DataType::kBF16, DotBf16Avx512);
  if (features.avx512_fp16) floats("f16 vectors (avx512_fp16)", DataType::kF16, MultiplyAddF16Avx512);
  const auto tiles = [&](const char* name, std::vector<DataType> types, double (*run)(std::int64_t)) {
    add(name, std::move(types), [run](std::int64_t rounds) { return run(rounds * 32); });
  };
  if (features.amx_tile && AllowTiles()) {
    if (features.amx_bf16) tiles("bf16 tiles (amx_bf16)", {DataType::kBF16}, TilesBf16);
    if (features.amx_int8) tiles("s8 tiles (amx_int8)", {DataType::kS8, DataType::kU8}, TilesS8);
  }
  return all;
}

// The rate of a large product through the library, which may know instructions that we do not: of what it
// offers first. 0 where it has none.
double ProductRate(DataType type, std::int64_t size) {
  MatMulConfig config;
  const bool integers = type == DataType::kS8;
  config.types = {integers ? DataType::kU8 : type, type, integers ? DataType::kS32 : type};
  config.a = config.b = Shape{{1, size, size}};
  const LayerConfig layer = config;
  std::vector<HostTensor> tensors;
  tensors.reserve(3);
  Problem problem{layer, {}, {}};
  const std::vector<Operand> operands = OperandsOf(layer);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    Result<HostTensor> tensor = HostTensor::Make(operands[i].shape, operands[i].type);
    if (!tensor) return 0;
    FillOperand(layer, i, 1, *tensor);
    tensors.push_back(std::move(*tensor));
    problem.operands.push_back(&tensors.back());
  }
  Result<HostTensor> output = HostTensor::Make(OutputShape(config), config.types.output);
  if (!output) return 0;
  problem.outputs.push_back(&*output);
  double best = 0;
  constexpr int kOffers = 6;
  int tried = 0;
  for (const Offer& offer : OffersFor(layer, CandidateTier::kEngine)) {
    if (offer.reference) continue;
    if (++tried > kOffers) break;
    MadeProgram program = offer.make(problem);
    if (!program || !(*program)->Run()) continue;
    for (int run = 0; run < 3; ++run) {
      const Clock::Duration begin = SteadyClock().Now();
      if (!(*program)->Run()) break;
      const double seconds = Seconds(SteadyClock().Now() - begin);
      best = std::max(best, 2.0 * static_cast<double>(size * size * size) / std::max(seconds, 1e-9));
      if (seconds > 0.1) break;
    }
  }
  return best;
}

// Of a large product, by the library; the types that it speaks for.
struct LibraryProduct {
  std::string name;
  DataType type;
  std::vector<DataType> types;
};

std::vector<LibraryProduct> ProductsOf(const CpuFeatures& features) {
  std::vector<LibraryProduct> products = {{"f32 product", DataType::kF32, FloatTypes()},
                                          {"s8 product", DataType::kS8, {DataType::kS8, DataType::kU8}}};
  if (features.avx512_fp16) products.push_back({"f16 product", DataType::kF16, {DataType::kF16}});
  if (features.avx512_bf16 || features.amx_bf16)
    products.push_back({"bf16 product", DataType::kBF16, {DataType::kBF16}});
  return products;
}

std::vector<PeakRate> ArithmeticRates(const std::vector<DataType>& types, std::int64_t threads, double per_second) {
  std::vector<PeakRate> rates;
  if (per_second <= 0) return rates;
  for (const DataType type : types)
    rates.push_back({PeakRate::Kind::kArithmetic, Bytes{0}, type, threads, per_second, "measured"});
  return rates;
}

}  // namespace

std::vector<std::string> PeakProbes(PeakDetail detail) {
  std::vector<std::string> names = {std::string(detail == PeakDetail::kWhole ? kMemoryProbe : kFirstMemoryProbe)};
  for (const Arithmetic& way : ArithmeticOf(Features())) names.push_back(way.name);
  for (const LibraryProduct& product : ProductsOf(Features())) names.push_back(product.name);
  return names;
}

Result<std::vector<PeakRate>> MeasurePeaks(std::string_view probe, std::int64_t threads) {
  threads = std::max<std::int64_t>(1, threads);
  if (probe == kMemoryProbe) return MeasureMemory(PeakDetail::kWhole, threads);
  if (probe == kFirstMemoryProbe) return MeasureMemory(PeakDetail::kFirst, threads);
  for (const Arithmetic& way : ArithmeticOf(Features())) {
    if (way.name != probe) continue;
    return ArithmeticRates(way.types, threads, BestRate(threads, kArithmeticSeconds, [&](std::int64_t rounds, int) {
                             return way.run(rounds);
                           }));
  }
  for (const LibraryProduct& product : ProductsOf(Features()))
    if (product.name == probe) return ArithmeticRates(product.types, threads, ProductRate(product.type, 512));
  return Error{"no probe of peaks is called " + Quoted(probe)};
}

}  // namespace infimum::cpu
