#include "infimum/measurement/device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "tests/core/measurement/row_builder.h"

namespace infimum {
namespace {

TEST(DeviceKey, ListsTheIdentityInAFixedOrder) {
  Device device = TestDevice();
  EXPECT_EQ(device.Key().text, "cpu/AuthenticAMD/family=25/model=1/stepping=1/instructions=avx2,fma/cores=2");
  device.identity["l1"] = "32K";
  device.identity.emplace("another", "x");
  EXPECT_EQ(device.Key().text,
            "cpu/AuthenticAMD/family=25/model=1/stepping=1/instructions=avx2,fma/l1=32K/cores=2/another=x");
}

TEST(DeviceKey, IgnoresTheMarketingName) {
  Device renamed = TestDevice();
  renamed.name = "Another";
  renamed.generation = "Zen 4";
  EXPECT_EQ(renamed.Key(), TestDevice().Key());
}

TEST(DeviceKey, IsOneLineWithoutSpacesWhateverTheIdentity) {
  Device device = TestDevice();
  device.vendor = "A vendor/with=marks%\n";
  device.identity["odd name"] = "tab\t and \xc3\xa9 and \x7f";
  const std::string text = device.Key().text;
  EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](unsigned char c) { return c > ' ' && c < 0x7f; })) << text;
  EXPECT_TRUE(text.starts_with("cpu/A%20vendor%2Fwith%3Dmarks%25%0A/"));
}

TEST(DeviceKey, DiffersWhereTheIdentityDoes) {
  std::vector<Device> devices(7, TestDevice());
  devices[1].vendor = "GenuineIntel";
  devices[2].identity["stepping"] = "2";
  devices[3].identity.erase("stepping");
  devices[4].identity["model"] = "1/stepping=1";
  devices[4].identity.erase("stepping");
  devices[5].kind = DeviceKind::kGpu;
  devices[6].identity["extra"] = "";
  for (std::size_t i = 0; i < devices.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(devices[i].Key(), devices[j].Key()) << i << " " << j;
  }
}

TEST(DeviceKey, IsReadBack) {
  const Device device = TestDevice();
  const std::optional<Device> read = Device::OfKey(device.Key().text);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->Key(), device.Key());
  EXPECT_EQ(read->cores, 2);
  for (const char* wrong : {"", "cpu", "cpu/x", "tpu/x/a=b", "cpu/x/a", "cpu/x/a=%2", "cpu/x/a=1/a=1"})
    EXPECT_FALSE(Device::OfKey(wrong).has_value()) << wrong;
}

TEST(EnvironmentKey, HoldsWhatChangesResultsAndNothingElse) {
  EXPECT_EQ(TestEnvironment().Key().text, "threads=1/library:onednn=3.2.0%20gomp");
  Environment other = TestEnvironment();
  other.threads = 2;
  EXPECT_NE(other.Key(), TestEnvironment().Key());
  other = TestEnvironment();
  other.libraries["cuda-driver"] = "580.1";
  EXPECT_NE(other.Key(), TestEnvironment().Key());
  other = TestEnvironment("3.3.0");
  EXPECT_NE(other.Key(), TestEnvironment().Key());
  for (const char* fact : {evidence::kHost, evidence::kSystem, evidence::kCores, evidence::kAffinity, evidence::kClocks,
                           evidence::kInfimum, evidence::kUuid, evidence::kPowerLimit, evidence::kEcc}) {
    other = TestEnvironment();
    other.evidence[fact] = "another";
    EXPECT_EQ(other.Key(), TestEnvironment().Key()) << fact;
    EXPECT_NE(other.Told(), TestEnvironment().Told()) << fact;
  }
}

TEST(Evidence, IsReadBackWhateverItHolds) {
  const Evidence facts = {{"host", "3f9c"}, {"odd name/=", "tab\t / and = and %2F and \xc3\xa9"}, {"a", "1"}};
  EXPECT_EQ(EvidenceOf(TextOf(facts)), facts);
  EXPECT_EQ(TextOf({{"host", "3f9c"}, {"clocks", ""}}).text, "host=3f9c");
  EXPECT_EQ(TextOf({}).text, "");
  EXPECT_TRUE(EvidenceOf({}).empty());
  EXPECT_TRUE(EvidenceOf({"no piece/x=%zz"}).empty());
}

}  // namespace
}  // namespace infimum
