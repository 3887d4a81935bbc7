// How often a random test tries: less under the sanitizers, which make it ten times slower.
#pragma once

namespace infimum {

constexpr int Trials(int count) {
#ifdef __SANITIZE_ADDRESS__
  return count / 10;
#else
  return count;
#endif
}

}  // namespace infimum
