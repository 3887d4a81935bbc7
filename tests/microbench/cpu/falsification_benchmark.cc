// Programs that read less than the dense-read floor counts, with the same bits in their result, held against that
// floor: y = x W, x behind a Relu (half of it zero), W f32 with values of bf16, of four times the last-level cache. The
// curve that the floor is of and the programs are measured in turns in this process, on one thread, the best of five
// counted.
//
//   benchmarks falsification
//
//   program               read MiB        us   of the floor
//   dense                    128.0      6480   1.02
//   skips zeros               64.0      3410   0.54   not in the class
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
#include <string_view>
#include <vector>

#include "analyzer/types/device_model.h"
#include "microbench/cpu/cpu_device.h"
#include "microbench/cpu/memory_peaks.h"
#include "tests/support/benchmark.h"

namespace infimum::cpu {
namespace {

constexpr std::size_t kColumns = 4096;
constexpr int kTurns = 5;

struct Data {
  std::vector<float> x, w;
  std::vector<std::uint16_t> halves;  // made before the first inference
};

Data MakeData(std::size_t rows) {
  Data data{std::vector<float>(rows), std::vector<float>(rows * kColumns), std::vector<std::uint16_t>(rows * kColumns)};
  std::mt19937 random(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (std::size_t i = 0; i < rows; ++i) data.x[i] = i % 2 == 0 ? std::abs(uniform(random)) + 0.1F : 0;
  for (std::size_t i = 0; i < data.w.size(); ++i) {
    data.halves[i] = static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(uniform(random)) >> 16);
    data.w[i] = std::bit_cast<float>(std::uint32_t{data.halves[i]} << 16);
  }
  return data;
}

// y += x[i] W[i], row by row, so that all programs add in one order.
template <bool kSkips, bool kHalves>
void Multiply(const Data& data, std::vector<float>& y) {
  std::fill(y.begin(), y.end(), 0.0F);
  float* const out = y.data();
  for (std::size_t i = 0; i < data.x.size(); ++i) {
    const float x = data.x[i];
    if (kSkips && x == 0) continue;
    if constexpr (kHalves) {
      const std::uint16_t* const row = data.halves.data() + i * kColumns;
      for (std::size_t j = 0; j < kColumns; ++j) out[j] += x * std::bit_cast<float>(std::uint32_t{row[j]} << 16);
    } else {
      const float* const row = data.w.data() + i * kColumns;
      for (std::size_t j = 0; j < kColumns; ++j) out[j] += x * row[j];
    }
  }
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
  const Data data = MakeData(static_cast<std::size_t>(bytes) / (4 * kColumns));
  const double weights = 4.0 * static_cast<double>(data.w.size());
  std::array programs = {
      Program{"dense", Multiply<false, false>, 1, true}, Program{"skips zeros", Multiply<true, false>, 0.5, false},
      Program{"keeps halves", Multiply<false, true>, 0.5, false}, Program{"both", Multiply<true, true>, 0.25, false}};
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
