// SHA-256 (FIPS 180-4), the identity of a model file in stores and reports. Written here because the
// file is hashed whenever it is read: the processor's SHA instructions are used where it has them.
//
//   Sha256(bytes of "abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace infimum {

enum class Sha256Instructions {
  kBest,      // what this processor has
  kPortable,  // for tests: plain C++ on every processor
};

// 64 lower-case hexadecimal digits.
std::string Sha256(std::span<const std::byte> bytes, Sha256Instructions instructions = Sha256Instructions::kBest);

}  // namespace infimum
