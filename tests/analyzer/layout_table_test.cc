#include <gtest/gtest.h>

#include <random>

#include "analyzer/layouts/layout_options.h"

namespace infimum {
namespace {

TEST(LayoutTable, TheWorkedExample) {
  LayoutTable table;
  const Shape shape{{1, 64, 8, 8}};
  EXPECT_EQ(table.NumberOf("abcd", shape), 0u);
  EXPECT_EQ(table.NumberOf("acdb", shape), 1u);
  EXPECT_EQ(table.NumberOf("nhwc", shape), 2u);
  EXPECT_TRUE(table.IsSame(1, 2));
  EXPECT_FALSE(table.IsSame(0, 1));
  EXPECT_EQ(table.NumberOf("any", shape), std::nullopt);
}

// Whatever was asked before, the answer is the order that the name is in the shape.
TEST(LayoutTable, RemembersOneNumberForEachNameAndShape) {
  const std::vector<std::string> names = {"abcd", "acdb", "nhwc", "aBcd16b", "aBcd8b",
                                          "cdba", "any",  "",     "plain",   "ab"};
  std::mt19937_64 random(1);
  LayoutTable table;
  std::map<std::pair<std::string, std::vector<std::int64_t>>, std::optional<std::uint32_t>> known;
  for (int i = 0; i < 5000; ++i) {
    const std::string& name = names[random() % names.size()];
    Shape shape{{1, static_cast<std::int64_t>(8 + random() % 12), 4, 4}};
    if (random() % 5 == 0) shape.dims.pop_back();
    const std::optional<std::uint32_t> number = table.NumberOf(name, shape);
    const auto [entry, is_new] = known.try_emplace({name, shape.dims}, number);
    ASSERT_EQ(entry->second, number) << name;
    const std::optional<ElementOrder> order = ParseLayout(name, shape);
    ASSERT_EQ(number.has_value(), order.has_value()) << name;
    if (!order) continue;
    ASSERT_EQ(*number == 0, order->is_row_major()) << name;
    ASSERT_TRUE(*number == 0 || table[*number].order == *order) << name;
  }
}

}  // namespace
}  // namespace infimum
