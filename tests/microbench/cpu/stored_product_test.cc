// Kernels for weights that are read as they are stored, of every instruction set that the processor has.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <utility>
#include <vector>

#include "microbench/kernels/cpu/cpu_kernels.h"
#include "microbench/kernels/cpu/vector/cpu_features.h"
#include "microbench/reference/random_fill.h"
#include "microbench/reference/reference.h"

namespace infimum::cpu::stored_product_test {
namespace {

struct Set {
  const VectorKernels* kernels;
  bool has_vnni;
};

std::vector<Set> Sets() {
  std::vector<Set> sets = {{&BaselineKernels(), false}};
  if (Features().avx2) sets.push_back({&Avx2Kernels(), false});
  if (Features().avx512) sets.push_back({&Avx512Kernels(), false});
  if (Features().avx512_vnni) sets.push_back({&Avx512Kernels(), true});
  return sets;
}

// The largest error of all elements, as the contract measures it.
double ErrorOf(const Offer& offer, const MatMulConfig& config) {
  const std::vector<Operand> operands = OperandsOf(LayerConfig(config));
  std::vector<HostTensor> tensors;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    tensors.push_back(*HostTensor::Make(operands[i].shape, operands[i].type));
    FillOperand(config, i, 7, tensors.back());
  }
  HostTensor output = *HostTensor::Make(OutputShape(config), DataType::kF32);
  Problem problem{config, {}, {&output}};
  for (const HostTensor& tensor : tensors) problem.operands.push_back(&tensor);
  const auto program = offer.make(problem);
  EXPECT_TRUE(program.ok() && (*program)->Run().ok());
  std::vector<TensorSource> values(tensors.begin(), tensors.end());
  Sources sources;
  for (const TensorSource& value : values) sources.push_back(&value);
  const std::unique_ptr<Reference> reference = MakeReference(config);
  double largest = 0;
  for (std::int64_t i = 0; i < output.count(); ++i) {
    const Expected expected = reference->At(0, i, sources);
    largest = std::max(largest, std::fabs(output.Get(i) - expected.value) / expected.magnitude);
  }
  return largest;
}

TEST(StoredProduct, EverySetMeetsTheContract) {
  int dots = 0;
  for (const char* const weights : {"s4", "u4", "s8", "u8"}) {
    for (const bool has_zeros : {false, true}) {
      for (const auto& [rows, depth, columns, block] :
           {std::tuple{1, 64, 64, 16}, {1, 96, 70, 32}, {5, 200, 30, 64}, {9, 512, 128, 128}, {2, 70, 3, 256}}) {
        const std::string text = std::string("matmul dtype=f32:") + weights + ":f32 a=1x" + std::to_string(rows) + "x" +
                                 std::to_string(depth) + " b=1x" + std::to_string(depth) + "x" +
                                 std::to_string(columns) +
                                 " bias=no weights=const scales=" + std::to_string(std::min(block, depth)) + "x1:f32" +
                                 (has_zeros ? std::string(":") + weights : "") + " activations=s8";
        const auto config = std::get<MatMulConfig>(*ParseLayerConfig(text));
        MatMulConfig exact = config;
        exact.activations = DataType::kNone;
        for (const Set& set : Sets()) {
          for (const Offer& offer : StoredProductOffers(config, *set.kernels, set.has_vnni)) {
            SCOPED_TRACE(text + " " + offer.candidate.algorithm + " of " + set.kernels->name);
            const bool rounds = offer.candidate.algorithm.starts_with("stored-dots");
            dots += rounds ? 1 : 0;
            EXPECT_LE(ErrorOf(offer, config), Tolerance(NumericContract::kStrictF32, rounds ? config : exact));
          }
        }
      }
    }
  }
  EXPECT_EQ(dots > 0, Features().avx2);
}

// Activations in 8 bits count only where the model allows them.
TEST(StoredProduct, ActivationsAreRoundedOnlyWhereTheLayerSaysSo) {
  const auto names = [](const std::string& activations) {
    const auto config = std::get<MatMulConfig>(*ParseLayerConfig(
        "matmul dtype=f32:s4:f32 a=1x1x64 b=1x64x64 bias=no weights=const scales=32x1:f32" + activations));
    std::string all;
    for (const Offer& offer : StoredProductOffers(config, Kernels(), Features().avx512_vnni))
      all += offer.candidate.algorithm + " ";
    return all;
  };
  EXPECT_EQ(names("").find("dots"), std::string::npos);
  EXPECT_EQ(names(" activations=f16").find("dots"), std::string::npos);
  EXPECT_EQ(names(" activations=s8").find("dots") != std::string::npos, Features().avx2);
}

// Tiles of integers against loops: pairs of 16 bits, and fours of an unsigned by a signed byte.
TEST(IntegerTiles, AddTheProductsOfWhatIsInAnElement) {
  std::mt19937 random(11);
  const CpuFeatures& features = Features();
  std::vector<std::pair<IntegerTile, int>> tiles;  // and how many are in an element
  for (const VectorKernels* kernels :
       {&BaselineKernels(), features.avx2 ? &Avx2Kernels() : nullptr, features.avx512 ? &Avx512Kernels() : nullptr}) {
    if (kernels == nullptr) continue;
    tiles.emplace_back(kernels->pair_tile, 2);
    if (const IntegerTile fours = kernels->find_four_tile(features.avx512_vnni, features.avx_vnni))
      tiles.emplace_back(fours, 4);
  }
  for (const auto& [tile, together] : tiles) {
    for (const auto& [rows, columns, depth] : {std::array<std::int64_t, 3>{1, 16, 1}, {7, 48, 5}, {13, 64, 33}}) {
      SCOPED_TRACE(std::to_string(rows) + "x" + std::to_string(columns) + "x" + std::to_string(depth) + ", " +
                   std::to_string(together) + " in an element");
      const auto fill = [&](std::int64_t count) {
        std::vector<std::int32_t> all(static_cast<std::size_t>(count));
        for (std::int32_t& one : all) one = static_cast<std::int32_t>(random());
        // Of 16 bits numbers of 13, so that sums fit 32.
        const auto small = [&] {
          return static_cast<std::uint32_t>(static_cast<std::int32_t>(random() % 8192) - 4096);
        };
        if (together == 2)
          for (std::int32_t& one : all) one = static_cast<std::int32_t>(small() << 16 | (small() & 0xffff));
        return all;
      };
      const std::vector<std::int32_t> panel = fill(depth * columns), a = fill(rows * depth),
                                      before(static_cast<std::size_t>(rows * columns), -7);
      std::vector<std::int32_t> y = before;
      tile(panel.data(), columns, depth, a.data(), depth, rows, y.data(), columns, false, panel.data());
      const auto part = [&, in = together](std::int32_t element, int i, bool is_signed) -> std::int64_t {
        if (in == 2) return static_cast<std::int16_t>(element >> (16 * i));
        const auto byte = static_cast<std::uint8_t>(element >> (8 * i));
        return is_signed ? std::int64_t{static_cast<std::int8_t>(byte)} : std::int64_t{byte};
      };
      for (std::int64_t r = 0; r < rows; ++r) {
        for (std::int64_t c = 0; c < columns; ++c) {
          std::int64_t sum = before[static_cast<std::size_t>(r * columns + c)];
          for (std::int64_t k = 0; k < depth; ++k)
            for (int i = 0; i < together; ++i)
              sum += part(a[static_cast<std::size_t>(r * depth + k)], i, false) *
                     part(panel[static_cast<std::size_t>(k * columns + c)], i, true);
          ASSERT_EQ(y[static_cast<std::size_t>(r * columns + c)], static_cast<std::int32_t>(sum)) << r << " " << c;
        }
      }
    }
  }
}

}  // namespace
}  // namespace infimum::cpu::stored_product_test
