#include "microbench/cpu/device/cpu_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "microbench/cpu/device/memory_peaks.h"
#include "microbench/cpu/onednn_backend.h"
#include "microbench/cpu/peaks.h"
#include "microbench/kernels/cpu/vector/cpu_features.h"
#include "tests/support/temporary_folder.h"

namespace infimum::cpu {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;

TEST(CpuDevice, ItsKeyDoesNotChangeBetweenCalls) {
  const Result<Device> first = DescribeCpu(), second = DescribeCpu();
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->Key(), second->Key());
  EXPECT_EQ(*first, *second);
}

TEST(CpuDevice, IsTheSameWhateverCoresThisProcessMayUse) {
  const Result<Device> free = DescribeCpu();
  cpu_set_t before, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (!CPU_ISSET(core, &before)) continue;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    const Result<Device> pinned = DescribeCpu();
    ASSERT_TRUE(free.ok() && pinned.ok());
    EXPECT_EQ(pinned->Key(), free->Key());
  }
  sched_setaffinity(0, sizeof before, &before);
}

TEST(CpuDevice, CountsTheCoresThatArePresent) {
  const testing::TemporaryFolder temporary;
  const std::filesystem::path root = temporary.path();
  const auto count = [&](const char* list) {
    std::ofstream(root / "present") << list;
    return PresentCores(root.string());
  };
  EXPECT_EQ(count("0\n"), 1);
  EXPECT_EQ(count("0-63\n"), 64);
  EXPECT_EQ(count("0-3,8-11,15\n"), 9);
  // What the C library counts stands for what cannot be read.
  for (const char* wrong : {"", "x", "3-1", "0-99999999999999999999"}) EXPECT_GE(count(wrong), 1) << wrong;
  EXPECT_GE(PresentCores(root.string()), 1);
}

TEST(CpuDevice, OfTheLastLevelEveryCacheCountsOnceThatTheCoresUse) {
  const testing::TemporaryFolder temporary;
  const std::filesystem::path root = temporary.path();
  // Two complexes of four cores each.
  for (int core = 0; core < 8; ++core) {
    const std::string complex = core < 4 ? "0-3" : "4-7";
    const auto cache = [&](int index, const char* level, const char* type, const char* size,
                           const std::string& shared) {
      const std::filesystem::path folder =
          root / ("cpu" + std::to_string(core)) / "cache" / ("index" + std::to_string(index));
      std::filesystem::create_directories(folder);
      std::ofstream(folder / "level") << level << '\n';
      std::ofstream(folder / "type") << type << '\n';
      std::ofstream(folder / "size") << size << '\n';
      std::ofstream(folder / "shared_cpu_list") << shared << '\n';
    };
    cache(0, "1", "Data", "32K", std::to_string(core));
    cache(1, "1", "Instruction", "64K", std::to_string(core));
    cache(2, "2", "Unified", "512K", std::to_string(core));
    cache(3, "3", "Unified", "32768K", complex);
  }
  const auto of = [&](std::vector<int> cores) { return LastLevelCaches(cores, root.string()); };
  EXPECT_EQ(of({1}), 32 << 20);
  EXPECT_EQ(of({0, 1, 2, 3}), 32 << 20);
  EXPECT_EQ(of({3, 4}), 64 << 20);
  // Nothing is listed: what the processor says of one.
  EXPECT_EQ(of({99, -1}), std::max({Features().l1, Features().l2, Features().l3}));
  std::ofstream(root / "cpu1" / "cache" / "index3" / "size") << "99999999999999999G\n";
  EXPECT_EQ(of({1}), 512 << 10);
}

TEST(CpuDevice, ItsFrequencyIsThatOfTheCoreWhereTheSystemTells) {
  const testing::TemporaryFolder temporary;
  const std::filesystem::path root = temporary.path();
  EXPECT_EQ(FrequencyMhz(root.string()), std::nullopt);
  for (int core = 0; core < 1024; ++core) {  // whichever this thread is on
    const std::filesystem::path folder = root / ("cpu" + std::to_string(core)) / "cpufreq";
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "scaling_cur_freq") << "2399998\n";
  }
  EXPECT_EQ(FrequencyMhz(root.string()), 2399.998);
}

TEST(CpuDevice, ItsIdentityHoldsFamilyModelSteppingInstructionsAndCores) {
  const Result<Device> device = DescribeCpu();
  ASSERT_TRUE(device.ok());
  for (const char* field : {"family", "model", "stepping", "instructions", "cores"}) {
    EXPECT_EQ(device->identity.count(field), 1U) << field;
  }
  EXPECT_THAT(device->vendor, Not(IsEmpty()));
  EXPECT_GE(device->cores, 1);
  EXPECT_GT(device->memory.value, 0);
}

TEST(CpuDevice, MicroArchitecturesAreToldApartByFamilyAndModel) {
  const auto name = [](const char* vendor, int family, int model, int stepping = 0) {
    CpuFeatures features;
    features.vendor = vendor;
    features.family = family;
    features.model = model;
    features.stepping = stepping;
    return MicroArchitecture(features);
  };
  EXPECT_EQ(name("AuthenticAMD", 0x17, 0x01), "Zen");
  EXPECT_EQ(name("AuthenticAMD", 0x17, 0x31), "Zen 2");
  EXPECT_EQ(name("AuthenticAMD", 0x19, 0x01), "Zen 3");
  EXPECT_EQ(name("AuthenticAMD", 0x19, 0x11), "Zen 4");
  EXPECT_EQ(name("AuthenticAMD", 0x1a, 0x02), "Zen 5");
  EXPECT_EQ(name("GenuineIntel", 6, 0x3f), "Haswell");
  EXPECT_EQ(name("GenuineIntel", 6, 0x55, 4), "Skylake-X");
  EXPECT_EQ(name("GenuineIntel", 6, 0x55, 7), "Cascade Lake");
  EXPECT_EQ(name("GenuineIntel", 6, 0x8f), "Sapphire Rapids");
  EXPECT_EQ(name("GenuineIntel", 6, 0xad), "Granite Rapids");
  EXPECT_EQ(name("Somebody", 6, 0xad), "");
}

TEST(CpuDevice, AModelNumberThatHidesTheProcessorIsNotBelieved) {
  CpuFeatures features;
  features.vendor = "GenuineIntel";
  features.family = 6;
  features.model = 0xa7;
  EXPECT_EQ(MicroArchitecture(features), "Rocket Lake");
  features.amx_tile = true;
  EXPECT_EQ(MicroArchitecture(features), "Sapphire Rapids or newer");
  features.model = 0xcf;
  EXPECT_EQ(MicroArchitecture(features), "Emerald Rapids");
}

TEST(CpuDevice, TheEnvironmentNamesTheLibraryAndItsThreading) {
  BackendOptions options;
  options.threads = 3;
  OneDnnBackend backend{options};
  const Result<Environment> environment = backend.DescribeEnvironment();
  ASSERT_TRUE(environment.ok());
  EXPECT_THAT(environment->libraries.at("onednn"), HasSubstr("3."));
  EXPECT_EQ(environment->threads, 3);
}

TEST(Peaks, CoverEveryTypeAndTheWholeMemoryCurve) {
  std::map<PeakRate::Kind, int> counts;
  std::set<DataType> types;
  for (const std::string& probe : PeakProbes(PeakDetail::kWhole)) {
    const Result<std::vector<PeakRate>> rates = MeasurePeaks(probe, 1);
    ASSERT_TRUE(rates.ok()) << probe;
    EXPECT_FALSE(rates->empty()) << probe;
    for (const PeakRate& rate : *rates) {
      ++counts[rate.kind];
      if (rate.kind == PeakRate::Kind::kArithmetic) types.insert(rate.type);
      EXPECT_GT(rate.per_second, rate.kind == PeakRate::Kind::kRetention ? 0 : 1e8) << probe;
      EXPECT_EQ(rate.source, "measured");
    }
  }
  EXPECT_THAT(types, IsSupersetOf({DataType::kF32, DataType::kF64, DataType::kF16, DataType::kBF16, DataType::kS8,
                                   DataType::kU8}));
  // From 16 KiB to at least 64 MiB, each twice the one before the last; reads in any case, the others while time is
  // left.
  EXPECT_GE(counts[PeakRate::Kind::kRead], 24);
  for (const auto kind : {PeakRate::Kind::kWrite, PeakRate::Kind::kCopy}) EXPECT_GE(counts[kind], 12);
}

TEST(MemoryParts, GoUpToEightTimesTheLastLevelInSmallSteps) {
  const std::vector<std::int64_t> parts = MemoryParts(PeakDetail::kWhole, 32 << 20, std::int64_t{1} << 40, 1);
  EXPECT_EQ(parts.front(), 16 << 10);
  EXPECT_EQ(parts.back(), 256 << 20);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    EXPECT_LE(2 * parts[i], 3 * parts[i - 1]) << i;
    EXPECT_EQ(parts[i] % 4096, 0);
  }
}

TEST(MemoryParts, OfAFirstLookAreTheSmallOnesAndThreeAroundTheLastLevel) {
  const std::vector<std::int64_t> parts = MemoryParts(PeakDetail::kFirst, 480 << 20, std::int64_t{1} << 40, 1);
  EXPECT_EQ(std::vector<std::int64_t>(parts.end() - 4, parts.end()),
            (std::vector<std::int64_t>{8 << 20, 240 << 20, 960 << 20, std::int64_t{2} << 30}));
  EXPECT_EQ(parts.front(), 16 << 10);
}

TEST(MemoryParts, AreEachThreadsShareAndNoMoreThanThereIsMemory) {
  EXPECT_EQ(MemoryParts(PeakDetail::kWhole, 64 << 20, std::int64_t{1} << 40, 16).back(), 32 << 20);
  EXPECT_EQ(MemoryParts(PeakDetail::kWhole, 32 << 20, 100 << 20, 2).back(), 50 << 20);
  EXPECT_EQ(MemoryParts(PeakDetail::kFirst, 32 << 20, 1, 1), std::vector<std::int64_t>{16 << 10});
  // Caches that are not described.
  EXPECT_EQ(MemoryParts(PeakDetail::kFirst, 0, std::int64_t{1} << 40, 1).back(), 64 << 20);
}

TEST(Peaks, OfAnUnknownProbeAreAnError) { EXPECT_FALSE(MeasurePeaks("luck", 1).ok()); }

}  // namespace
}  // namespace infimum::cpu
