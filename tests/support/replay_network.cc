#include "tests/support/replay_network.h"

#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <random>

namespace infimum::testing {
namespace {

namespace fs = std::filesystem;
using Numbers = ReplayNetwork::Numbers;

constexpr int kChannels = 16, kSide = 6, kPixels = kSide * kSide;
constexpr double kEpsilon = 0.25;  // large enough to matter

Numbers Random(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Numbers numbers;
  for (std::size_t i = 0; i < count; ++i) {
    numbers.push_back(static_cast<float>(static_cast<double>(random() >> 11) * 0x1p-53 - 0.5));
  }
  return numbers;
}

// The network in double precision, row-major throughout.
Numbers Expected(const std::map<std::string, Numbers>& given) {
  const Numbers &x = given.at("x"), &w1 = given.at("w1"), &b1 = given.at("b1"), &w2 = given.at("w2");
  std::vector<double> a(kChannels * kPixels), c(2 * kChannels * kPixels);
  for (int o = 0; o < kChannels; ++o) {
    for (int row = 0; row < kSide; ++row) {
      for (int column = 0; column < kSide; ++column) {
        double sum = b1[o];
        for (int i = 0; i < kChannels; ++i) {
          for (int tap = 0; tap < 9; ++tap) {
            const int r = row + tap / 3 - 1, k = column + tap % 3 - 1;
            if (r < 0 || r >= kSide || k < 0 || k >= kSide) continue;
            sum += static_cast<double>(x[i * kPixels + r * kSide + k]) * w1[(o * kChannels + i) * 9 + tap];
          }
        }
        a[o * kPixels + row * kSide + column] = std::max(sum, 0.0);
      }
    }
  }
  for (int o = 0; o < kChannels; ++o) {
    for (int p = 0; p < kPixels; ++p) {
      double sum = a[o * kPixels + p];
      for (int i = 0; i < kChannels; ++i) sum += a[i * kPixels + p] * w2[o * kChannels + i];
      c[o * kPixels + p] = sum;
      c[(kChannels + o) * kPixels + p] = x[o * kPixels + p];
    }
  }
  Numbers y(kChannels * kPixels);
  for (int row = 0; row < kChannels; ++row) {
    const double* d = &c[(row + 8) * kPixels];
    double mean = 0, variance = 0;
    for (int p = 0; p < kPixels; ++p) mean += d[p] / kPixels;
    for (int p = 0; p < kPixels; ++p) variance += (d[p] - mean) * (d[p] - mean) / kPixels;
    for (int p = 0; p < kPixels; ++p) {
      y[row * kPixels + p] = static_cast<float>((d[p] - mean) / std::sqrt(variance + kEpsilon));
    }
  }
  return y;
}

}  // namespace

ReplayNetwork::ReplayNetwork() {
  given_ = {{"x", Random(576, 1)}, {"w1", Random(16 * 16 * 9, 2)}, {"b1", Random(16, 3)}, {"w2", Random(256, 4)}};
  given_["y"] = Expected(given_);
  WriteTensors();
}

void ReplayNetwork::WriteTensors() const {
  std::string index;
  for (const auto& [name, numbers] : given_) {
    std::ofstream file(folder_ / (name + ".bin"), std::ios::binary);
    file.write(reinterpret_cast<const char*>(numbers.data()),
               static_cast<std::streamsize>(numbers.size() * sizeof(float)));
    index += (index.empty() ? "" : ",") + std::string(R"({"name":")") + name + R"(","dtype":"f32","shape":[)" +
             std::to_string(numbers.size()) + R"(],"file":")" + name + R"(.bin"})";
  }
  std::ofstream(folder_ / "index.json") << R"({"schema":"infimum.tensors/1","tensors":[)" << index << "]}";
}

ReplayStep ReplayNetwork::Step(const std::string& name, const std::string& workload, const ReplayCandidate& candidate,
                               std::vector<std::size_t> operands, std::vector<std::size_t> outputs,
                               ReplayValues values) {
  return {
      name, {name}, *ParseWorkload(workload), candidate, std::move(operands), std::move(outputs), {std::move(values)}};
}

ReplaySchedule ReplayNetwork::Schedule(const ReplayCandidate& first, const ReplayCandidate& second) {
  using Kind = ReplayTensorKind;
  const auto tensor = [](const char* name, Kind kind, Shape shape, bool output = false) {
    return ReplayTensor{name, kind, DataType::kF32, std::move(shape), output};
  };
  const Shape whole{{1, kChannels, kSide, kSide}};
  ReplaySchedule schedule;
  schedule.model = "network";
  schedule.tensors = {tensor("x", Kind::kInput, whole),
                      tensor("w1", Kind::kWeight, Shape{{16, 16, 3, 3}}),
                      tensor("b1", Kind::kWeight, Shape{{16}}),
                      tensor("w2", Kind::kWeight, Shape{{16, 16, 1, 1}}),
                      tensor("conv1", Kind::kIntermediate, whole),
                      tensor("a", Kind::kIntermediate, whole),
                      tensor("conv2", Kind::kIntermediate, whole),
                      tensor("b", Kind::kIntermediate, whole),
                      tensor("c", Kind::kIntermediate, Shape{{1, 32, kSide, kSide}}),
                      tensor("d", Kind::kIntermediate, whole),
                      tensor("y", Kind::kIntermediate, Shape{{16, 36}}, true)};
  schedule.steps = {
      Step("conv1", kFirst, first, {0, 1, 2}, {4}),
      Step("relu", "pointwise kind=relu dtype=f32:-:f32 in=576", "", {4}, {5}),
      Step("conv2", kSecond, second, {5, 3}, {6}),
      Step("residual", "pointwise kind=add dtype=f32:f32:f32 in=576,576", "", {6, 5}, {7}),
      Step("concat", "movement kind=concat dtype=f32:-:f32 in=16x36,16x36 out=32x36 axis=0", "", {7, 0}, {8}),
      Step("cut", "movement kind=slice dtype=f32:-:f32 in=32x36 out=16x36", "", {8}, {9}, {{"starts", {8, 0}}}),
      Step("norm", "normalization kind=layer dtype=f32:-:f32 in=16x36 axis=1 scale=no bias=no", "", {9}, {10},
           {{"epsilon", {kEpsilon}}})};
  return schedule;
}

}  // namespace infimum::testing
