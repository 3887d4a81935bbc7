#include "db/store/data_sheets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "infimum/db/store.h"

namespace infimum {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::optional<PeakRate> RateOf(const DevicePeaks& peaks, PeakRate::Kind kind, DataType type) {
  for (const PeakRate& rate : peaks.rates)
    if (rate.kind == kind && rate.type == type) return rate;
  return std::nullopt;
}

TEST(Csv, CellsInQuotesHoldCommasQuotesAndLineEnds) {
  EXPECT_THAT(ReadCsv("a,b\r\n\"1,\"\"2\"\"\",\"x\ny\"\r\n,\n"),
              ElementsAre(ElementsAre("a", "b"), ElementsAre("1,\"2\"", "x\ny"), ElementsAre("", "")));
  EXPECT_THAT(ReadCsv("a,b"), ElementsAre(ElementsAre("a", "b")));
}

TEST(DataSheets, AreOfManyDevicesEachWithItsOwnKeyAndASource) {
  EXPECT_GE(DataSheets().size(), 60u);
  std::set<std::string> keys;
  for (const DataSheet& sheet : DataSheets()) {
    EXPECT_TRUE(keys.insert(sheet.device.Key().text).second) << sheet.device.name;
    EXPECT_FALSE(sheet.source.empty()) << sheet.device.name;
    EXPECT_FALSE(sheet.device.generation.empty()) << sheet.device.name;
    for (const PeakRate& rate : sheet.peaks.rates) {
      // From a Kepler's double precision to a Blackwell's 8-bit floats.
      EXPECT_GT(rate.per_second, 1e9) << sheet.device.name;
      EXPECT_LT(rate.per_second, 2e16) << sheet.device.name;
    }
  }
}

TEST(DataSheets, AreFoundByNameAndAliasInLettersOfEitherCase) {
  const DataSheet* const sheet = FindDataSheet("nvidia l40s");
  ASSERT_NE(sheet, nullptr);
  EXPECT_EQ(FindDataSheet("L40S"), sheet);
  EXPECT_EQ(sheet->device.generation, "Ada");
  EXPECT_EQ(FindDataSheet("nvidia-L40S"), sheet);
  const DataSheet* const h100 = FindDataSheet("NVIDIA H100");
  ASSERT_NE(h100, nullptr);
  EXPECT_EQ(h100->device.name, "NVIDIA H100 80GB HBM3");
  for (const char* const name : {"H100", "h100 sxm", "NVIDIA H100-SXM", "nvidia_h100_80gb_hbm3"})
    EXPECT_EQ(FindDataSheet(name), h100) << name;
  EXPECT_EQ(FindDataSheet(""), nullptr);
  EXPECT_EQ(FindDataSheet("NVIDIA"), nullptr);
  const auto names = [](std::string_view asked) {
    std::set<std::string> found;
    for (const DataSheet* like : DataSheetsLike(asked)) found.insert(like->device.name);
    return found;
  };
  EXPECT_EQ(names("h100"), (std::set<std::string>{"NVIDIA H100 PCIe", "NVIDIA H100 80GB HBM3", "NVIDIA H100 NVL"}));
  EXPECT_EQ(names("A100 80GB"), (std::set<std::string>{"NVIDIA A100-SXM4-80GB", "NVIDIA A100 80GB PCIe"}));
  EXPECT_EQ(names("a100-sxm"), (std::set<std::string>{"NVIDIA A100-SXM4-40GB", "NVIDIA A100-SXM4-80GB"}));
  EXPECT_TRUE(names("a100-sx").empty());
  EXPECT_EQ(names("NVIDIA H100 nvl"), (std::set<std::string>{"NVIDIA H100 NVL"}));
  EXPECT_TRUE(names("").empty());
  EXPECT_EQ(FindDataSheet("L40X"), nullptr);
}

TEST(DataSheets, ModulesOfOneNameAreDistinguishedByTheirMultiprocessors) {
  const DataSheet *const large = FindDataSheet("Orin", "8.7", "16"), *const small = FindDataSheet("Orin", "8.7", "8");
  ASSERT_TRUE(large != nullptr && small != nullptr);
  EXPECT_NE(large, small);
}

// 585 to 1,590 MHz; of the GRID K520 one clock is all that is known.
TEST(DataSheets, TheMiddleOfTheClocksIsBetweenTheBaseAndThePeaks) {
  EXPECT_NEAR(FindDataSheet("T4")->middle_clock, std::sqrt(585.0 / 1590), 1e-12);
  EXPECT_EQ(FindDataSheet("K520")->middle_clock, 1);
  for (const DataSheet& sheet : DataSheets()) EXPECT_GT(sheet.middle_clock, 0.5) << sheet.device.name;
}

TEST(DataSheets, AMeasuredDeviceHasThatOfItsName) {
  Device device;
  device.kind = DeviceKind::kGpu;
  device.name = "Tesla V100-SXM2-16GB";
  device.identity = {{"compute_capability", "7.0"}};
  ASSERT_NE(FindDataSheet(device), nullptr);
  device.identity["compute_capability"] = "9.9";
  EXPECT_EQ(FindDataSheet(device), nullptr);
}

// 80 multiprocessors x 128 FLOP x 1530 MHz; 900 GB/s.
TEST(DataSheets, RatesAreThoseAtTheHighestClock) {
  const DataSheet* const sheet = FindDataSheet("Tesla V100-SXM2-16GB");
  ASSERT_NE(sheet, nullptr);
  const auto f32 = RateOf(sheet->peaks, PeakRate::Kind::kArithmetic, DataType::kF32);
  ASSERT_TRUE(f32.has_value());
  EXPECT_NEAR(f32->per_second, 80 * 128 * 1530e6, 1e11);
  EXPECT_THAT(f32->source, StartsWith("data sheet"));
  const auto memory = RateOf(sheet->peaks, PeakRate::Kind::kRead, DataType::kNone);
  ASSERT_TRUE(memory.has_value());
  EXPECT_NEAR(memory->per_second, 900e9, 5e9);
  // 6 MiB of L2, and of each multiprocessor 128 KiB of L1 and shared memory and 256 KiB of registers.
  EXPECT_NEAR(static_cast<double>(sheet->peaks.nearer_than_memory.value), (6.0 * 1024 + 80 * 384) * 1024, 1e6);
}

// 126.5 MiB of L2, and of each of 148 multiprocessors 256 KiB of L1 and shared memory, of registers, of tensor memory.
TEST(DataSheets, TensorMemoryIsNearerThanMemoryWhereAMultiprocessorHasIt) {
  const DataSheet* const sheet = FindDataSheet("B200");
  ASSERT_NE(sheet, nullptr);
  EXPECT_NEAR(static_cast<double>(sheet->peaks.nearer_than_memory.value), (126.5 * 1024 + 148 * 768) * 1024, 1e6);
  // The same generation's other processors have none.
  const DataSheet* const small = FindDataSheet("NVIDIA GeForce RTX 5090");
  ASSERT_NE(small, nullptr);
  EXPECT_LT(static_cast<double>(small->peaks.nearer_than_memory.value), (128 * 1024 + 170 * 512) * 1024.0);
}

TEST(DataSheets, WithoutAHighestClockARateDoesNotClaimToBeThePeak) {
  for (const DataSheet& sheet : DataSheets()) {
    if (sheet.device.name.find("H20") == std::string::npos || sheet.device.name.find("H200") != std::string::npos)
      continue;
    for (const PeakRate& rate : sheet.peaks.rates) {
      if (rate.kind != PeakRate::Kind::kArithmetic) continue;
      EXPECT_THAT(rate.source, Not(StartsWith("data sheet")));
    }
    return;
  }
  FAIL() << "no sheet of the H20";
}

TEST(DataSheets, AStoreHasPeaksOfADeviceWithoutMeasurements) {
  Result<std::unique_ptr<Store>> store = OpenStore(":memory:", OpenMode::kReadWrite);
  ASSERT_TRUE(store.ok());
  const DataSheet* const sheet = FindDataSheet("L40S");
  const Result<DevicePeaks> peaks = (*store)->Peaks(sheet->device.Key());
  ASSERT_TRUE(peaks.ok());
  EXPECT_EQ(peaks->rates, sheet->peaks.rates);
}

}  // namespace
}  // namespace infimum
