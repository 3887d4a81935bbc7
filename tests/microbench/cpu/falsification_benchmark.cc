// Programs that read less than the dense-read floor counts, with the same bits in their result, held against that
// floor: y = x W, x behind a Relu (half of it zero), W f32 with values of bf16, of four times the last-level cache. The
// curve that the floor is of and the programs are measured in turns in this process, on one thread, the best of five
// counted.
//
//   benchmarks falsification
//
//   dense-read floor of 128 MiB: 2631 us
//   program         read MiB        us  of the floor
//   dense              128.0      3221  1.22
//   skips zeros         64.5      1643  0.62  not in the class
//
// Ends with 1 where the dense program, the only one of the class, is below its floor.
#include <sched.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "analyzer/types/device_model.h"
#include "microbench/cpu/device/cpu_device.h"
#include "microbench/cpu/device/memory_peaks.h"
#include "microbench/reference/host_tensor.h"
#include "tests/support/benchmark.h"

namespace infimum::cpu {
namespace {

constexpr std::size_t kColumns = 4096;
constexpr int kTurns = 5;

struct Data {
  std::vector<float> x;
  AlignedBuffer w, halves;  // f32; and the upper halves of it, made before the first inference
};

Result<Data> MakeData(std::size_t rows) {
  const std::size_t count = rows * kColumns;
  INFIMUM_ASSIGN_OR_RETURN(AlignedBuffer w, AlignedBuffer::Make(4 * count));
  INFIMUM_ASSIGN_OR_RETURN(AlignedBuffer halves, AlignedBuffer::Make(2 * count));
  Data data{std::vector<float>(rows), std::move(w), std::move(halves)};
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (float& x : data.x) x = std::max(0.0F, uniform(random));
  auto* const whole = static_cast<float*>(data.w.data());
  auto* const half = static_cast<std::uint16_t*>(data.halves.data());
  for (std::size_t i = 0; i < count; ++i) {
    half[i] = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(uniform(random)) >> 16);
    whole[i] = std::bit_cast<float>(std::uint32_t{half[i]} << 16);
  }
  return data;
}

// For the widest vectors that the processor has.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define INFIMUM_WIDEST __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define INFIMUM_WIDEST
#endif

// y += x[0] w[0] + ... + x[3] w[3], added one after the other: the same bits however rows are grouped.
INFIMUM_WIDEST void AddRows(const float* x, const float* const* w, float* y) {
  for (std::size_t j = 0; j < kColumns; ++j)
    y[j] = (((y[j] + x[0] * w[0][j]) + x[1] * w[1][j]) + x[2] * w[2][j]) + x[3] * w[3][j];
}
INFIMUM_WIDEST void AddHalves(const float* x, const std::uint16_t* const* w, float* y) {
  const auto whole = [](std::uint16_t half) { return std::bit_cast<float>(std::uint32_t{half} << 16); };
  for (std::size_t j = 0; j < kColumns; ++j)
    y[j] = (((y[j] + x[0] * whole(w[0][j])) + x[1] * whole(w[1][j])) + x[2] * whole(w[2][j])) + x[3] * whole(w[3][j]);
}

template <bool kSkips, bool kHalves>
void Multiply(const Data& data, std::vector<float>& y) {
  using Weight = std::conditional_t<kHalves, std::uint16_t, float>;
  const auto* const weights = static_cast<const Weight*>((kHalves ? data.halves : data.w).data());
  std::fill(y.begin(), y.end(), 0.0F);
  std::array<float, 4> x{};
  std::array<const Weight*, 4> rows{weights, weights, weights, weights};
  std::size_t count = 0;
  const auto add = [&] {
    if constexpr (kHalves) AddHalves(x.data(), rows.data(), y.data());
    if constexpr (!kHalves) AddRows(x.data(), rows.data(), y.data());
    x = {};
    count = 0;
  };
  for (std::size_t i = 0; i < data.x.size(); ++i) {
    if (kSkips && data.x[i] == 0) continue;
    x[count] = data.x[i];
    rows[count++] = weights + i * kColumns;
    if (count == x.size()) add();
  }
  if (count > 0) add();
}

struct Program {
  std::string_view name;
  void (*run)(const Data&, std::vector<float>&);
  double share;  // of the weights' bytes that it reads
  bool is_dense;
  double seconds = 1e30;
};

int Run() {
  const int cores[] = {sched_getcpu()};
  const auto bytes = static_cast<double>(std::min<std::int64_t>(4 * LastLevelCaches(cores), std::int64_t{1} << 30));
  const Result<Device> device = DescribeCpu();
  if (!device) {
    std::fprintf(stderr, "%s\n", device.error().message.c_str());
    return 1;
  }
  const Result<Data> made = MakeData(static_cast<std::size_t>(bytes) / (4 * kColumns));
  if (!made) {
    std::fprintf(stderr, "%s\n", made.error().message.c_str());
    return 1;
  }
  const Data& data = *made;
  const auto zeros = static_cast<double>(std::ranges::count(data.x, 0.0F));
  const double weights = 4.0 * kColumns * static_cast<double>(data.x.size());
  const double kept = 1 - zeros / static_cast<double>(data.x.size());
  std::array programs = {Program{"dense", Multiply<false, false>, 1, true},
                         Program{"skips zeros", Multiply<true, false>, kept, false},
                         Program{"keeps halves", Multiply<false, true>, 0.5, false},
                         Program{"both", Multiply<true, true>, kept / 2, false}};
  std::vector<float> y(kColumns), expected(kColumns);
  Multiply<false, false>(data, expected);
  DevicePeaks peaks;
  for (int turn = 0; turn < kTurns; ++turn) {
    const Result<std::vector<PeakRate>> rates = MeasureMemory(PeakDetail::kWhole, 1);
    if (!rates) {
      std::fprintf(stderr, "%s\n", rates.error().message.c_str());
      return 1;
    }
    peaks.rates.insert(peaks.rates.end(), rates->begin(), rates->end());
    for (Program& program : programs) {
      const auto begin = std::chrono::steady_clock::now();
      program.run(data, y);
      program.seconds =
          std::min(program.seconds, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
      if (y != expected) {
        std::fprintf(stderr, "%s: other bits\n", std::string(program.name).c_str());
        return 1;
      }
    }
  }
  const Result<DeviceModel> model = DeviceModel::Make(device->Key(), peaks, 1);
  if (!model) return 1;
  const double floor = std::chrono::duration<double>(model->Memory(weights, 0).latency).count();
  bool held = true;
  std::printf("dense-read floor of %.0f MiB: %.0f us\n%-14s %9s %9s  of the floor\n", weights / (1 << 20), floor * 1e6,
              "program", "read MiB", "us");
  for (const Program& program : programs) {
    const bool holds = !program.is_dense || program.seconds >= floor;
    std::printf("%-14s %9.1f %9.0f  %.2f%s\n", std::string(program.name).c_str(), weights * program.share / (1 << 20),
                program.seconds * 1e6, program.seconds / floor,
                !holds             ? "  NO"
                : program.is_dense ? ""
                                   : "  not in the class");
    held = held && holds;
  }
  return held ? 0 : 1;
}

}  // namespace
}  // namespace infimum::cpu

INFIMUM_BENCHMARK(falsification, "") { return argc > 1 ? 2 : infimum::cpu::Run(); }
