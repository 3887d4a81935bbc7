#include "infimum/measurement/device.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/measurement/row_builder.h"

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

TEST(EnvironmentKey, HoldsEverythingThatMayChangeATime) {
  EXPECT_EQ(TestEnvironment().Key().text,
            "threads=1/affinity=pinned:0/clocks=/host=Linux%206.1/infimum=0.1.0/library:onednn=3.2.0%20gomp");
  std::vector<Environment> environments(7, TestEnvironment());
  environments[1].threads = 2;
  environments[2].affinity = "free";
  environments[3].clock_policy = "performance";
  environments[4].host = "Linux 6.2";
  environments[5].infimum_version = "0.2.0";
  environments[6].libraries["onednn"] = "3.3.0";
  for (std::size_t i = 0; i < environments.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(environments[i].Key(), environments[j].Key()) << i << " " << j;
  }
}

}  // namespace
}  // namespace infimum
