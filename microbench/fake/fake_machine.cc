#include "microbench/fake/fake_machine.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "microbench/harness/sampling/shuffle.h"

namespace infimum {
namespace {

constexpr std::string_view kLibrary = "fake";
constexpr double kLaunchSeconds = 1e-6;

struct Kernel {
  std::string_view algorithm;
  double least_factor;
  double most_factor;
};

constexpr std::array<Kernel, 5> kProductKernels{
    {{"direct", 1.2, 1.6}, {"winograd", 1.05, 1.2}, {"gemm", 1.1, 2.4}, {"sparse", 1, 1}, {"ref", 40, 40}}};
constexpr std::array<Kernel, 2> kOtherKernels{{{"simd", 1.05, 1.3}, {"scalar", 1.5, 3}}};

bool IsProduct(const Workload& workload) {
  const std::string_view family = FamilyOf(workload);
  return family == "convolution" || family == "matmul" || family == "recurrent" || family == "attention";
}

std::span<const Kernel> KernelsFor(const Workload& workload) {
  if (IsProduct(workload)) return kProductKernels;
  return kOtherKernels;
}

bool SuitsWinograd(const Workload& workload) {
  const LayerConfig* config = std::get_if<LayerConfig>(&workload);
  if (const auto* region = std::get_if<Region>(&workload)) {
    for (const RegionMember& member : region->members)
      if (config == nullptr && std::holds_alternative<ConvolutionConfig>(member.config)) config = &member.config;
  }
  const auto* convolution = config == nullptr ? nullptr : std::get_if<ConvolutionConfig>(config);
  if (convolution == nullptr || convolution->groups != 1 || convolution->transposed) return false;
  const auto all = [](const Shape& shape, std::int64_t value) {
    return std::ranges::all_of(shape.dims, [&](std::int64_t dim) { return dim == value; });
  };
  return all(convolution->kernel, 3) && all(convolution->stride, 1) && all(convolution->dilation, 1);
}

// A layer of two spatial dimensions, of which one candidate wants the channels last: something to pay for.
bool IsPlanar(const Workload& workload) {
  const auto* config = std::get_if<LayerConfig>(&workload);
  const auto* convolution = config == nullptr ? nullptr : std::get_if<ConvolutionConfig>(config);
  return convolution != nullptr && convolution->input.rank() == 4;
}

// Uniform in [0, 1), the same for the same text.
double Draw(const std::string& text) { return static_cast<double>(RandomOrder(HashOf(text)).Next() >> 11) * 0x1p-53; }

}  // namespace

std::vector<Candidate> FakeCandidates(const Workload& workload, CandidateTier tier) {
  std::vector<Candidate> candidates;
  for (const Kernel& kernel : KernelsFor(workload)) {
    if (kernel.algorithm == "winograd" && !SuitsWinograd(workload)) continue;
    const std::string layout = kernel.algorithm == "winograd" && IsPlanar(workload) ? "acdb" : "any";
    candidates.push_back({std::string(kLibrary), std::string(kernel.algorithm), layout, layout, candidates.empty()});
    if (tier == CandidateTier::kHeuristic && candidates.size() == 2) break;
  }
  return candidates;
}

Result<Clock::Duration> FakeLatency(const Workload& workload, const Candidate& candidate, std::int64_t threads,
                                    std::uint64_t machine) {
  if (candidate.algorithm == "sparse") return Error{"unsupported: fake/sparse needs weights of which most are zero"};
  for (const Kernel& kernel : KernelsFor(workload)) {
    if (kernel.algorithm != candidate.algorithm) continue;
    if (kernel.algorithm == "winograd" && !SuitsWinograd(workload)) break;
    const Work work = WorkOf(workload);
    const double bytes = static_cast<double>((work.read() + work.written).value);
    const double flops = static_cast<double>(work.direct.value);
    const double roofline =
        std::max(bytes / kFakeBytesPerSecond, flops / (kFakeFlopsPerSecond * static_cast<double>(threads))) +
        kLaunchSeconds;
    const double draw = Draw(Format(workload) + '\n' + candidate.name() + '\n' + std::to_string(machine));
    const double factor = kernel.least_factor + draw * (kernel.most_factor - kernel.least_factor);
    return std::chrono::ceil<Clock::Duration>(std::chrono::duration<double>(roofline * factor));
  }
  return Error{"unsupported: " + candidate.name() + " is not a candidate for " + std::string(FamilyOf(workload))};
}

Bytes FakeConstants(const Workload& workload) {
  Bytes sum;
  const auto add = [&](const Operand& operand) {
    sum += Bytes{(ElementCount(operand.shape) * BitsPerElement(operand.type) + 7) / 8};
  };
  if (const auto* config = std::get_if<LayerConfig>(&workload)) {
    for (const Operand& operand : OperandsOf(*config))
      if (operand.constant) add(operand);
    return sum;
  }
  std::set<std::int64_t> seen;
  for (const RegionMember& member : std::get<Region>(workload).members) {
    const std::vector<Operand> operands = OperandsOf(member.config);
    for (std::size_t i = 0; i < member.operands.size(); ++i) {
      const RegionOperand& operand = member.operands[i];
      if (operand.source == RegionOperand::Source::kWeight && seen.insert(operand.index).second) add(operands[i]);
    }
  }
  return sum;
}

Clock::Duration FakeColdWeightsCost(Bytes constants) {
  const double seconds = static_cast<double>(constants.value) / kFakeBytesPerSecond;
  return std::chrono::ceil<Clock::Duration>(std::chrono::duration<double>(seconds));
}

Device FakeDevice(std::uint64_t machine) {
  Device device;
  device.kind = DeviceKind::kCpu;
  device.name = "Pretended machine " + std::to_string(machine);
  device.vendor = "infimum";
  device.generation = "Pretended";
  device.identity = {{"machine", std::to_string(machine)}, {"l1", "32K"}, {"l2", "256K"}, {"l3", "1M"}, {"cores", "4"}};
  device.cores = 4;
  device.last_level_cache = Bytes{1 << 20};
  device.memory = Bytes{std::int64_t{1} << 30};
  return device;
}

std::vector<PeakRate> FakePeaks(std::int64_t threads) {
  std::vector<PeakRate> peaks;
  for (std::int64_t working_set = 16 << 10; working_set <= 64 << 20; working_set += working_set / 2) {
    for (const auto kind : {PeakRate::Kind::kRead, PeakRate::Kind::kWrite, PeakRate::Kind::kCopy})
      peaks.push_back({kind, Bytes{working_set}, DataType::kF32, threads, kFakeBytesPerSecond, "measured"});
  }
  for (const DataType type : {DataType::kF32, DataType::kF16, DataType::kBF16, DataType::kU8, DataType::kS8}) {
    peaks.push_back({PeakRate::Kind::kArithmetic, Bytes{}, type, threads,
                     kFakeFlopsPerSecond * static_cast<double>(threads), "measured"});
  }
  return peaks;
}

}  // namespace infimum
