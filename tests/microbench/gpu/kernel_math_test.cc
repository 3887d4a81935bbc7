// The small parts that all kernels of ours are made of.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "microbench/kernels/cuda/copy_body.h"
#include "microbench/kernels/cuda/element_access.h"
#include "microbench/kernels/cuda/index_math.h"
#include "microbench/kernels/cuda/stored_body.h"
#include "microbench/kernels/cuda/timing_body.h"
#include "microbench/reference/host_tensor.h"
#include "tests/microbench/gpu/run_on_host.h"

namespace infimum::cuda {
namespace {

TEST(FastDivisor, DividesAsDivisionDoes) {
  const std::uint32_t most = 0x7fffffff;
  for (std::uint32_t divisor : {1U, 2U, 3U, 5U, 7U, 10U, 49U, 64U, 641U, 1000U, 65535U, 65536U, 65537U, 1000003U,
                                0x3fffffffU, 0x40000000U, 0x40000001U, most - 1, most}) {
    const FastDivisor fast(divisor);
    for (std::uint32_t number : {0U, 1U, divisor - 1, divisor, divisor + 1, 12345U, 99999999U, most - 1, most}) {
      if (number > most) continue;
      EXPECT_EQ(fast.Divide(number), number / divisor) << number << " / " << divisor;
    }
    for (std::uint64_t multiple = divisor; multiple <= most; multiple += divisor * (1 + most / divisor / 1000)) {
      EXPECT_EQ(fast.Divide(static_cast<std::uint32_t>(multiple)), multiple / divisor);
      EXPECT_EQ(fast.Divide(static_cast<std::uint32_t>(multiple - 1)), (multiple - 1) / divisor);
    }
  }
}

TEST(Elements, HalvesAreThoseOfHostTensors) {
  for (int bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const double expected = cpu::HostTensor::GetElement(&half, DataType::kF16, 0);
    const float value = FloatFromHalf(half);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(value));
      continue;
    }
    EXPECT_EQ(value, expected) << bits;
    EXPECT_EQ(HalfFromFloat(value), half) << bits;
    // Between this one and the next, and just beside the middle.
    for (const float between :
         {value * 1.00048828125F, std::nextafter(value, 1e9F), value * 1.0003F, value * 1.0007F}) {
      std::uint16_t stored;
      cpu::HostTensor::SetElement(&stored, DataType::kF16, 0, between);
      EXPECT_EQ(HalfFromFloat(between), stored) << between;
      cpu::HostTensor::SetElement(&stored, DataType::kBF16, 0, between);
      EXPECT_EQ(BrainFromFloat(between), stored) << between;
    }
  }
}

TEST(Elements, EightBitFloatsAreThoseOfHostTensors) {
  const auto check = [](DataType type, auto from, auto to) {
    double last = 0;
    const bool is_half = BitsPerElement(type) == 4;  // all of whose codes are numbers
    for (int bits = 0; bits < (is_half ? 8 : 128); ++bits) {
      const auto stored = static_cast<std::uint8_t>(bits);
      const double expected = cpu::HostTensor::GetElement(&stored, type, 0);
      const float value = from(stored);
      if (!std::isfinite(expected)) {
        EXPECT_EQ(std::isnan(value), std::isnan(expected)) << bits;
        continue;
      }
      EXPECT_EQ(value, expected) << bits;
      // Halfway to the one below, and on both sides of it.
      const auto middle = static_cast<float>((expected + last) / 2);
      for (const float each : {value, middle, std::nextafter(middle, 1e9F), std::nextafter(middle, 0.0F), -middle}) {
        std::uint8_t rounded;
        cpu::HostTensor::SetElement(&rounded, type, 0, each);
        EXPECT_EQ(to(each), rounded) << each << " as " << Name(type);
      }
      last = expected;
    }
    for (const float beyond : {450.0F, 470.0F, 60000.0F, 70000.0F, INFINITY, -INFINITY}) {
      std::uint8_t rounded;
      cpu::HostTensor::SetElement(&rounded, type, 0, beyond);
      EXPECT_EQ(to(beyond), rounded) << beyond << " as " << Name(type);
    }
    EXPECT_EQ(std::isnan(from(to(NAN))), !is_half);
  };
  check(DataType::kF8E4M3, FloatFromE4M3, E4M3FromFloat);
  check(DataType::kF8E5M2, FloatFromE5M2, E5M2FromFloat);
  check(
      DataType::kF4E2M1, [](std::uint32_t bits) { return FloatOfStored(StoredNumber::kF4E2M1, bits); }, E2M1FromFloat);
}

TEST(Elements, PowersOfTwoAreTheNearestByTheirLogarithm) {
  for (int exponent = -130; exponent <= 127; ++exponent) {
    for (const double part : {1.0, 1.2, 1.414213, 1.414215, 1.7}) {
      const auto value = static_cast<float>(std::ldexp(part, exponent));
      std::uint8_t expected = 0;
      cpu::HostTensor::SetElement(&expected, DataType::kF8E8M0, 0, value);
      // Below f32's normal numbers all are the least.
      EXPECT_EQ(E8M0FromFloat(value), std::fpclassify(value) == FP_NORMAL ? expected : E8M0FromFloat(value)) << value;
      if (std::fpclassify(value) != FP_NORMAL) {
        EXPECT_LE(E8M0FromFloat(value), 1);
      }
    }
  }
  EXPECT_EQ(E8M0FromFloat(NAN), 255);
  EXPECT_EQ(E8M0FromFloat(0), 0);
  EXPECT_EQ(E8M0FromFloat(INFINITY), 254);
}

TEST(Elements, IntegersSaturateAndRoundToEven) {
  for (const DataType type : {DataType::kS8, DataType::kU8, DataType::kS16, DataType::kU16, DataType::kS32,
                              DataType::kU32, DataType::kS64, DataType::kU64}) {
    for (const double value : {0.0,          0.5,    1.5,   2.5,   -0.5,    -1.5,     127.5,
                               128.0,        -129.0, 255.5, 300.0, 70000.0, -70000.0, 2147483647.0,
                               2147483648.0, 5e9,    -5e9,  1e19,  2e19,    -1e19,    double(INFINITY),
                               double(NAN)}) {
      std::uint64_t expected = 0, stored = 0;
      cpu::HostTensor::SetElement(&expected, type, 0, value);
      const Element element = type == DataType::kS8    ? Element::kS8
                              : type == DataType::kU8  ? Element::kU8
                              : type == DataType::kS16 ? Element::kS16
                              : type == DataType::kU16 ? Element::kU16
                              : type == DataType::kS32 ? Element::kS32
                              : type == DataType::kU32 ? Element::kU32
                              : type == DataType::kS64 ? Element::kS64
                                                       : Element::kU64;
      StoreOne<double>(&stored, element, 0, value);
      EXPECT_EQ(stored, expected) << value << " as " << Name(type);
    }
  }
}

// A warp meets each bank of shared memory once, where it writes a row and where it reads words down a column.
template <class Tile>
void ExpectNoConflicts() {
  constexpr int kBanks = 32,
                kWordBanks = static_cast<int>(sizeof(typename Tile::Word)) < 4 ? 1 : sizeof(typename Tile::Word) / 4;
  constexpr int kLanesAtATime = kBanks / kWordBanks;
  const auto check = [&](auto place) {
    for (int first = 0; first < 32; first += kLanesAtATime) {
      std::vector<int> met(kBanks, 0);
      for (int lane = first; lane < first + kLanesAtATime; ++lane) {
        for (int bank = 0; bank < kWordBanks; ++bank) ++met[(place(lane) * kWordBanks + bank) % kBanks];
      }
      for (const int times : met) EXPECT_EQ(times, 1);
    }
  };
  for (int row = 0; row < Tile::kElements; row += 5) check([&](int lane) { return Tile::At(row, lane); });
  for (int word = 0; word < 32; word += 3) {
    check([&](int lane) { return Tile::At(lane * (Tile::kElements / 32), word); });
  }
}

TEST(TransposeTiles, HaveNoBankConflicts) {
  ExpectNoConflicts<TransposeTile<std::uint32_t, 1>>();
  ExpectNoConflicts<TransposeTile<std::uint16_t, 2>>();
  ExpectNoConflicts<TransposeTile<std::uint8_t, 4>>();
  ExpectNoConflicts<TransposeTile<std::uint16_t, 4>>();
  ExpectNoConflicts<TransposeTile<std::uint32_t, 2>>();
  ExpectNoConflicts<TransposeTile<std::uint64_t, 2>>();
}

TEST(TransposeTiles, FitIntoTheSharedMemoryOfAnyBlock) {
  for (int bytes : {1, 2, 4, 8, 16}) {
    for (int merged : {1, 2, 4}) {
      WithTile(bytes, merged, [](auto tile) {
        EXPECT_LE(sizeof(typename decltype(tile)::Word) * decltype(tile)::kWords, 48U * 1024);
      });
    }
  }
}

TEST(Bandwidth, EveryPassCoversTheWorkingSetOnce) {
  for (const int units : {1, 2, 4, 8}) {
    for (const std::int64_t bytes : {16, 16 * 95, 16 * 96 * 8, 16 * 1000}) {
      alignas(16) static unsigned char from[16 * 1001], to[16 * 1001];
      for (std::size_t i = 0; i < sizeof(from); ++i) from[i] = static_cast<unsigned char>(i * 7);
      std::memset(to, 0xcb, sizeof(to));
      BandwidthCall call;
      call.kind = BandwidthKind::kCopy;
      call.from = from;
      call.to = to;
      call.bytes = bytes;
      call.units_in_flight = units;
      RunOnHost(call);
      EXPECT_EQ(std::memcmp(from, to, static_cast<std::size_t>(bytes)), 0);
      EXPECT_EQ(to[bytes], 0xcb);
      EXPECT_EQ(BytesMoved(call), 2 * bytes);
    }
  }
}

TEST(ArithmeticPeaks, CountTwoOperationsForEachMultiplyAdd) {
  ArithmeticCall call;
  call.iterations = 10;
  EXPECT_EQ(OperationsOf(call, 3),
            std::int64_t{2} * 10 * kArithmeticLinks * kArithmeticChains * kArithmeticThreads * 3);
}

}  // namespace
}  // namespace infimum::cuda
