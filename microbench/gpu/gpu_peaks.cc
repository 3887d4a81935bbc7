#include "microbench/gpu/gpu_peaks.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <optional>

#include "infimum/base/text.h"
#include "microbench/gpu/gpu_run.h"
#include "microbench/reference/host_tensor.h"
#include "microbench/reference/random_fill.h"

namespace infimum::cuda {
namespace {

constexpr std::string_view kMemoryProbe = "memory";
constexpr std::string_view kLaunchProbe = "launches";
constexpr std::int64_t kLeastSet = std::int64_t{1} << 20;
// What one launch moves at least, so that starting it weighs little.
constexpr std::int64_t kBytesOfLaunch = std::int64_t{256} << 20;
constexpr int kRuns = 10, kTrialRuns = 3;
// Large enough for every tile of every algorithm, small enough for 4 GiB of memory; the smaller ones end before the
// power limit is felt.
constexpr std::int64_t kProductExtents[] = {4096, 8192};

// At most 4 GiB, and a quarter of the device's memory.
std::int64_t LargestSet(const Gpu& gpu) {
  std::int64_t set = std::int64_t{4} << 30;
  while (set > kLeastSet && set > gpu.facts().memory.value / 4) set /= 2;
  return set;
}

struct VectorProbe {
  std::string_view name;
  ArithmeticPeak kind;
  std::vector<DataType> types;
};
// Of types that Tensor Cores have too the plain units say nothing: where no product of them could be measured their
// peak is not known, and a floor by the lower one would be too high.
std::vector<VectorProbe> VectorProbes() {
  return {{"f32 vectors", ArithmeticPeak::kF32, {DataType::kF32}},
          {"f64 vectors", ArithmeticPeak::kF64, {DataType::kF64}}};
}

struct ProductProbe {
  std::string_view name;
  DataType type;
  NumericContract contract;
  std::optional<GemmSums> sums{};  // f16: twice as fast on boards for games
};
constexpr ProductProbe kProducts[] = {
    {"f32 product", DataType::kF32, NumericContract::kStrictF32},
    {"f32 product, bf16x9", DataType::kF32, NumericContract::kStrictF32, GemmSums::kBf16x9},
    {"tf32 product", DataType::kF32, NumericContract::kTf32},
    {"f64 product", DataType::kF64, NumericContract::kStrictF32},
    {"f16 product", DataType::kF16, NumericContract::kF16},
    {"f16 product, f16 sums", DataType::kF16, NumericContract::kF16, GemmSums::kF16},
    {"bf16 product", DataType::kBF16, NumericContract::kBf16},
    {"s8 product", DataType::kS8, NumericContract::kInt8},
    {"f8 product", DataType::kF8E4M3, NumericContract::kFp8},
    {"f8 product, fast sums", DataType::kF8E4M3, NumericContract::kFp8, GemmSums::kFast},
    {"f4 product", DataType::kF4E2M1, NumericContract::kFp8}};

// The least time of several runs, after one that warms up.
Result<Latency> LeastTime(Gpu& gpu, int runs, const std::function<Status()>& enqueue) {
  Latency least = Latency::max();
  for (int run = 0; run <= runs; ++run) {
    INFIMUM_RETURN_IF_ERROR(gpu.RecordEvent(0));
    INFIMUM_RETURN_IF_ERROR(enqueue());
    INFIMUM_RETURN_IF_ERROR(gpu.RecordEvent(1));
    INFIMUM_RETURN_IF_ERROR(gpu.Wait());
    INFIMUM_ASSIGN_OR_RETURN(const Latency time, gpu.ElapsedTime(0, 1));
    if (run > 0) least = std::min(least, time);
  }
  if (least <= Latency(0)) return Error{"a probe of peaks took no time at all"};
  return least;
}

double PerSecond(double amount, Latency time) { return amount / (time.count() * 1e-6); }

// A rate of the memory at one working set, by the best number of loads in flight.
// `sink`: 16 bytes that a read may write to.
Result<double> BandwidthAt(Gpu& gpu, BandwidthKind kind, void* memory, void* sink, std::int64_t set) {
  BandwidthCall call;
  call.kind = kind;
  auto* const base = static_cast<char*>(memory);
  // A copy's working set is both of its halves.
  call.bytes = kind == BandwidthKind::kCopy ? set / 2 : set;
  call.from = base;
  call.to = kind == BandwidthKind::kCopy ? base + set / 2 : kind == BandwidthKind::kRead ? sink : base;
  // Twice the passes less the passes: what a launch and its events cost is in neither.
  const int passes = static_cast<int>(std::max<std::int64_t>(1, kBytesOfLaunch / set));
  const auto time_of = [&](int count) {
    call.passes = count;
    return LeastTime(gpu, kRuns, [&] { return gpu.LaunchPeak(call); });
  };
  double best = 0;
  for (const int units : {1, 2, 4, 8}) {
    call.units_in_flight = units;
    INFIMUM_ASSIGN_OR_RETURN(const Latency twice, time_of(2 * passes));
    INFIMUM_ASSIGN_OR_RETURN(const Latency once, time_of(passes));
    if (twice <= once) continue;
    best = std::max(best, PerSecond(static_cast<double>(BytesMoved(call)), twice - once));
  }
  if (best == 0) return Error{"twice the passes over memory took no longer; the device is busy with something else"};
  return best;
}

Result<std::vector<PeakRate>> Bandwidth(Gpu& gpu) {
  std::vector<PeakRate> rates;
  const std::int64_t largest = LargestSet(gpu);
  INFIMUM_ASSIGN_OR_RETURN(const DeviceMemory memory, DeviceMemory::Allocate(gpu, Bytes{largest}));
  INFIMUM_ASSIGN_OR_RETURN(const DeviceMemory sink, DeviceMemory::Allocate(gpu, Bytes{16}));
  INFIMUM_RETURN_IF_ERROR(gpu.Fill(memory.data(), 0x3c, memory.size()));
  constexpr std::pair<BandwidthKind, PeakRate::Kind> kKinds[] = {{BandwidthKind::kRead, PeakRate::Kind::kRead},
                                                                 {BandwidthKind::kWrite, PeakRate::Kind::kWrite},
                                                                 {BandwidthKind::kCopy, PeakRate::Kind::kCopy}};
  for (std::int64_t set = kLeastSet; set <= largest; set *= 2) {
    for (const auto& [kind, peak] : kKinds) {
      INFIMUM_ASSIGN_OR_RETURN(const double rate, BandwidthAt(gpu, kind, memory.data(), sink.data(), set));
      rates.push_back({peak, Bytes{set}, DataType::kNone, 1, rate, "measured"});
    }
  }
  return rates;
}

// As rows near it are told apart (gpu_run.h).
Result<std::vector<PeakRate>> LaunchRate(Gpu& gpu) {
  // The least that was ever seen, as of all peaks: a floor divides by it.
  INFIMUM_ASSIGN_OR_RETURN(const Latency launch, MeasureLaunchFloor(gpu, 0));
  return std::vector<PeakRate>{
      {PeakRate::Kind::kLaunch, Bytes{0}, DataType::kF32, 1, PerSecond(1, launch), "measured"}};
}

std::vector<PeakRate> ArithmeticRates(const std::vector<DataType>& types, double per_second) {
  std::vector<PeakRate> rates;
  for (const DataType type : types)
    rates.push_back({PeakRate::Kind::kArithmetic, Bytes{0}, type, 1, per_second, "measured"});
  return rates;
}

Result<std::vector<PeakRate>> VectorRate(Gpu& gpu, const VectorProbe& probe) {
  INFIMUM_ASSIGN_OR_RETURN(const DeviceMemory sink, DeviceMemory::Allocate(gpu, Bytes{16}));
  ArithmeticCall call;
  call.kind = probe.kind;
  call.to = sink.data();
  double operations = 0;
  const Result<Latency> time = LeastTime(gpu, kRuns, [&]() -> Status {
    INFIMUM_ASSIGN_OR_RETURN(operations, gpu.LaunchPeak(call));
    return {};
  });
  INFIMUM_RETURN_IF_ERROR(time);
  return ArithmeticRates(probe.types, PerSecond(operations, *time));
}

// A product's operands and result, kept from one algorithm to the next.
class ProductMemory {
 public:
  ProductMemory(Gpu& gpu, bool random) : gpu_(gpu), is_random_(random) {}

  Status Bind(GpuProgram& program) {
    const std::vector<GpuBinding>& bindings = program.bindings();
    memory_.resize(bindings.size());
    std::vector<void*> addresses;
    for (std::size_t i = 0; i < bindings.size(); ++i) {
      const Bytes size = bindings[i].placement.bytes(bindings[i].type);
      if (memory_[i].size() != size) {
        INFIMUM_ASSIGN_OR_RETURN(memory_[i], DeviceMemory::Allocate(gpu_, size));
        INFIMUM_RETURN_IF_ERROR(gpu_.Fill(memory_[i].data(), 0, size));
        if (is_random_ && !bindings[i].is_written()) INFIMUM_RETURN_IF_ERROR(FillRandom(bindings[i], memory_[i]));
      }
      addresses.push_back(memory_[i].data());
    }
    if (program.workspace().value > workspace_.size().value) {
      INFIMUM_ASSIGN_OR_RETURN(workspace_, DeviceMemory::Allocate(gpu_, program.workspace()));
    }
    return program.Bind(addresses, workspace_.data());
  }

 private:
  // The same numbers over and over: making each anew takes longer than all the rest.
  Status FillRandom(const GpuBinding& binding, const DeviceMemory& memory) {
    constexpr std::int64_t kNumbers = 1048573;  // a prime number, so that no row or tile is like another
    INFIMUM_ASSIGN_OR_RETURN(cpu::HostTensor numbers, cpu::HostTensor::Make(Shape{{kNumbers}}, binding.type));
    for (std::int64_t i = 0; i < kNumbers; ++i) {
      const double unit = static_cast<double>(cpu::HashOf(7, static_cast<std::uint64_t>(i)) >> 11) * 0x1p-53;
      numbers.Set(i, IsInteger(binding.type) ? unit * 200 - 100 : unit * 2 - 1);
    }
    std::vector<std::byte> all(static_cast<std::size_t>(memory.size().value));
    const std::vector<std::byte> some = Packed(numbers, TensorPlacement::RowMajor(Shape{{kNumbers}}), binding.type);
    for (std::size_t at = 0; at < all.size(); at += some.size())
      std::memcpy(all.data() + at, some.data(), std::min(some.size(), all.size() - at));
    return gpu_.Upload(memory.data(), all.data(), memory.size());
  }

  Gpu& gpu_;
  bool is_random_;
  std::vector<DeviceMemory> memory_;  // by binding
  DeviceMemory workspace_;
};

// The best rate of the library's first sixteen suggestions, on random numbers and on zeros, on which a device that is
// held by its power limit is faster (894 TFLOP/s after 788 on an H200): no program may be faster than a peak.
Result<double> BestProduct(Gpu& gpu, GpuLibraries& libraries, const ProductProbe& probe, std::int64_t extent) {
  const double operations = 2 * std::pow(static_cast<double>(extent), 3);
  double best = 0;
  std::unique_ptr<GpuProgram> fastest;
  ProductMemory random(gpu, true);
  for (const GpuOffer& offer : libraries.LargeProducts(probe.type, probe.contract, extent, probe.sums)) {
    Result<std::unique_ptr<GpuProgram>> program = offer.make(gpu);
    if (!program.ok() || !random.Bind(**program).ok()) continue;
    const Result<Latency> time = LeastTime(gpu, kTrialRuns, [&] { return (*program)->Enqueue(gpu.stream()); });
    if (!time.ok() || PerSecond(operations, *time) <= best) continue;
    best = PerSecond(operations, *time);
    fastest = *std::move(program);
  }
  if (fastest == nullptr) return 0.0;
  ProductMemory zeros(gpu, false);
  for (ProductMemory* memory : {&random, &zeros}) {
    INFIMUM_RETURN_IF_ERROR(memory->Bind(*fastest));
    INFIMUM_ASSIGN_OR_RETURN(const Latency time, LeastTime(gpu, kRuns, [&] { return fastest->Enqueue(gpu.stream()); }));
    best = std::max(best, PerSecond(operations, time));
  }
  return best;
}

Result<std::vector<PeakRate>> ProductRate(Gpu& gpu, GpuLibraries& libraries, const ProductProbe& probe) {
  double per_second = 0;
  for (const std::int64_t extent : kProductExtents) {
    INFIMUM_ASSIGN_OR_RETURN(const double rate, BestProduct(gpu, libraries, probe, extent));
    per_second = std::max(per_second, rate);
  }
  if (per_second == 0) return std::vector<PeakRate>();
  if (probe.contract == NumericContract::kTf32)
    return std::vector<PeakRate>{{PeakRate::Kind::kTf32, Bytes{0}, DataType::kF32, 1, per_second, "measured"}};
  std::vector<DataType> types = {probe.type};
  if (probe.type == DataType::kS8) types.push_back(DataType::kU8);
  if (probe.type == DataType::kF8E4M3) types.push_back(DataType::kF8E5M2);
  return ArithmeticRates(types, per_second);
}

}  // namespace

std::vector<std::string> GpuPeakProbes() {
  std::vector<std::string> names = {std::string(kMemoryProbe), std::string(kLaunchProbe)};
  for (const VectorProbe& probe : VectorProbes()) names.emplace_back(probe.name);
  for (const ProductProbe& probe : kProducts) names.emplace_back(probe.name);
  return names;
}

Result<std::vector<PeakRate>> MeasureGpuPeaks(Gpu& gpu, GpuLibraries& libraries, std::string_view probe) {
  if (probe == kMemoryProbe) return Bandwidth(gpu);
  if (probe == kLaunchProbe) return LaunchRate(gpu);
  for (const VectorProbe& vectors : VectorProbes())
    if (vectors.name == probe) return VectorRate(gpu, vectors);
  for (const ProductProbe& product : kProducts)
    if (product.name == probe) return ProductRate(gpu, libraries, product);
  return Error{"no probe of peaks is called " + Quoted(probe)};
}

}  // namespace infimum::cuda
