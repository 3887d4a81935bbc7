// The floor of a matrix-vector product by the memory's measured curve, held against the product itself: one thread, f32
// weights of a quarter to eight times the last-level cache (2 GiB at most), both measured in turns in this process and
// the best of each counted. The floor must be at least 0.7 of the product's least time and never above it. The first
// look at the curve must take at most 1.5 seconds.
//
//   benchmarks tau [rounds]        (default 3, of some 15 seconds each; more where other programs run)
//
//       MiB    floor us  product us   floor/product
//       8.0        79.8        98.7   0.81
//
// Ends with 1 where that does not hold.
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

#include "analyzer/types/device_model.h"
#include "microbench/cpu/device/cpu_device.h"
#include "microbench/cpu/device/memory_peaks.h"
#include "microbench/kernels/cpu/vector/vector_kernels.h"
#include "microbench/reference/host_tensor.h"
#include "tests/support/benchmark.h"

namespace infimum::cpu {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr double kLeastShare = 0.7;
constexpr double kFirstLookSeconds = 1.5;
constexpr std::int64_t kDepth = 1024;
constexpr std::int64_t kBlock = kDepth * kPackedColumns * 4;  // bytes
constexpr std::int64_t kMostWeights = std::int64_t{2} << 30;
constexpr double kStep = 1.26;    // between the curve's own sets
constexpr int kRunsOfRound = 10;  // as many as the curve has visits
constexpr double kTimed = 2e-3;   // seconds of several products that are timed together

struct Product {
  std::int64_t blocks = 0;
  double seconds = 1e30;
  double bytes() const { return static_cast<double>(blocks * kBlock); }
};

// y = x W, its blocks of columns in turn, or to and fro in two products.
void Multiply(const float* weights, const float* x, const float* start, const Product& product, bool to_and_fro,
              std::vector<float>& y) {
  const auto multiply = [&](std::int64_t block, std::int64_t count) {
    Kernels().matrix_vector(weights + block * kBlock / 4, x, start + block * kPackedColumns, kDepth,
                            count * kPackedColumns, y.data() + block * kPackedColumns);
  };
  if (!to_and_fro) {
    multiply(0, product.blocks);
    multiply(0, product.blocks);
    return;
  }
  for (std::int64_t block = 0; block < product.blocks; ++block) multiply(block, 1);
  for (std::int64_t block = product.blocks; block-- > 0;) multiply(block, 1);
}

Seconds Since(std::chrono::steady_clock::time_point start) { return std::chrono::steady_clock::now() - start; }

// On the processor, as the curve's times of one thread are.
double ProcessorSeconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

int Run(int rounds) {
  const int cores[] = {sched_getcpu()};
  const std::int64_t last_level = LastLevelCaches(cores);
  const std::int64_t most = std::min(8 * last_level, kMostWeights) / kBlock * kBlock;
  std::vector<Product> products;
  for (double bytes = 0.25 * static_cast<double>(last_level); bytes < static_cast<double>(most); bytes *= kStep)
    products.push_back({std::max<std::int64_t>(1, std::llround(bytes / kBlock))});
  products.push_back({most / kBlock});
  const Result<AlignedBuffer> weights = AlignedBuffer::Make(static_cast<std::size_t>(most));
  const Result<Device> device = DescribeCpu();
  if (!weights || !device) {
    std::fprintf(stderr, "%s\n", (weights ? device.error() : weights.error()).message.c_str());
    return 1;
  }
  const auto* const packed = static_cast<const float*>(weights->data());
  const std::vector<float> x(kDepth, 1.0F), start(static_cast<std::size_t>(most / kBlock * kPackedColumns));
  std::vector<float> y(start.size());

  DevicePeaks peaks;
  double first_look = 1e30;
  for (int round = 0; round < rounds; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    const bool looked = MeasureMemory(PeakDetail::kFirst, 1).ok();
    if (looked) first_look = std::min(first_look, Since(begin).count());
    const auto rates = MeasureMemory(PeakDetail::kWhole, 1);
    if (!rates) {
      std::fprintf(stderr, "%s\n", rates.error().message.c_str());
      return 1;
    }
    peaks.rates.insert(peaks.rates.end(), rates->begin(), rates->end());
    for (int run = 0; run < kRunsOfRound; ++run) {
      for (Product& product : products) {
        for (const bool to_and_fro : {false, true}) {
          const int times = product.seconds < kTimed ? static_cast<int>(kTimed / product.seconds) + 1 : 1;
          const double timed = ProcessorSeconds();
          for (int i = 0; i < times; ++i) Multiply(packed, x.data(), start.data(), product, to_and_fro, y);
          product.seconds = std::min(product.seconds, (ProcessorSeconds() - timed) / (2 * times));
        }
      }
    }
  }
  const Result<DeviceModel> model = DeviceModel::Make(device->Key(), peaks, 1);
  if (!model) return 1;

  bool held = first_look <= kFirstLookSeconds;
  std::printf("last-level cache %.0f MiB; a first look takes %.2f s (at most %.1f s: %s)\n",
              static_cast<double>(last_level) / (1 << 20), first_look, kFirstLookSeconds, held ? "yes" : "NO");
  std::printf("%9s  %11s  %11s  %13s\n", "MiB", "floor us", "product us", "floor/product");
  for (const Product& product : products) {
    const double floor = model->Memory(product.bytes(), 0).latency.count(), least = product.seconds * 1e6;
    const bool holds = floor >= kLeastShare * least && floor <= least;
    std::printf("%9.1f  %11.1f  %11.1f  %13.3f%s\n", product.bytes() / (1 << 20), floor, least, floor / least,
                holds ? "" : "  NO");
    held = held && holds;
  }
  return held ? 0 : 1;
}

}  // namespace
}  // namespace infimum::cpu

INFIMUM_BENCHMARK(tau, "[rounds]") {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 3;
  if (argc > 2 || rounds < 1) return 2;
  return infimum::cpu::Run(rounds);
}
