#include "src/synth/weight_values.h"

#include <gtest/gtest.h>

#include <set>

namespace infimum::synth {
namespace {

TEST(WeightValues, MadeOnesAreApartFromTheirNeighbours) {
  for (const DataType type : {DataType::kF32, DataType::kF16, DataType::kBF16, DataType::kS8}) {
    const WeightValues values = ValuesOfProduct(type, 64);
    std::set<std::string> apart;
    for (std::size_t number = 0; number < 3; ++number) {
      std::string bytes;
      AppendValue(type, MadeValue(values, number), bytes);
      apart.insert(bytes);
    }
    EXPECT_EQ(apart.size(), 3U) << Name(type);
  }
  EXPECT_EQ(MadeValue(ValuesOfProduct(DataType::kF32, 64), 0), 1.0 / 64);
}

}  // namespace
}  // namespace infimum::synth
