#include "microbench/harness/supervisor/environment.h"

#include <gtest/gtest.h>

namespace infimum {
namespace {

TEST(HostHash, TellsMachinesApartAndNamesNone) {
  const std::string one = HostHash("3d1219c7c4c5404aaa1f6d2a48adfda4", "node1", "boot");
  EXPECT_EQ(one.size(), 12u);
  EXPECT_EQ(HostHash("3d1219c7c4c5404aaa1f6d2a48adfda4", "node1", "another boot"), one);
  // Nodes that were installed from one image.
  EXPECT_NE(HostHash("3d1219c7c4c5404aaa1f6d2a48adfda4", "node2", "boot"), one);
  EXPECT_NE(HostHash("4d1219c7c4c5404aaa1f6d2a48adfda4", "node1", "boot"), one);
  // A container has no id of its own, and a name that changes: what it shares with its machine tells.
  EXPECT_EQ(HostHash("", "a", "boot"), HostHash("uninitialized", "b", "boot"));
  EXPECT_NE(HostHash("", "a", "boot"), HostHash("", "a", "another boot"));
  EXPECT_EQ(HostHash("", "a", ""), "");
}

TEST(Environment, GetsTheFactsThatTheBackendDoesNotGive) {
  Environment environment;
  environment.evidence[evidence::kClocks] = "locked:1000MHz";
  CompleteEnvironment(environment, 3, "pinned", 8);
  EXPECT_EQ(environment.threads, 3);
  EXPECT_EQ(FactOf(environment.evidence, evidence::kClocks), "locked:1000MHz");
  EXPECT_EQ(FactOf(environment.evidence, evidence::kAffinity), "pinned");
  EXPECT_EQ(FactOf(environment.evidence, evidence::kCores), "8");
  EXPECT_TRUE(FactOf(environment.evidence, evidence::kSystem).starts_with("Linux "));
  EXPECT_FALSE(FactOf(environment.evidence, evidence::kInfimum).empty());
  for (const auto& [name, value] : environment.evidence) EXPECT_FALSE(value.empty()) << name;
}

}  // namespace
}  // namespace infimum
