// How many random cases a law is held to: a tenth of `all` in an ordinary run, all with INFIMUM_LONG
// (scripts/test long). What is asked of their counts goes through it too:
//
//   for (std::uint64_t seed = 0; seed < Cases(3000); ++seed) ...
//   EXPECT_GT(fused, Cases(1000));
#pragma once

#include <cstddef>
#include <cstdlib>

namespace infimum::testing {

inline std::size_t Cases(std::size_t all) { return std::getenv("INFIMUM_LONG") != nullptr ? all : all / 10; }

}  // namespace infimum::testing
