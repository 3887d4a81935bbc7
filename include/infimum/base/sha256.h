// SHA-256 (FIPS 180-4), the identity of a file's content in stores and reports. Written here because files are hashed
// whenever they are read: the processor's SHA instructions are used where it has them.
//
//   Sha256(bytes of "abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

namespace infimum {

enum class Sha256Instructions {
  kBest,      // what this processor has
  kPortable,  // for tests: plain C++ on every processor
};

// For what does not fit into memory at once: Add() its parts in order, then ask for Text().
class Sha256Hash {
 public:
  explicit Sha256Hash(Sha256Instructions instructions = Sha256Instructions::kBest) : instructions_(instructions) {}
  void Add(std::span<const std::byte> bytes);
  // 64 lower-case hexadecimal digits of everything that was added.
  std::string Text() const;

 private:
  static constexpr std::size_t kBlock = 64;
  Sha256Instructions instructions_;
  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<std::byte, kBlock> rest_{};  // of the bytes so far, those that fill no block
  std::size_t rest_size_ = 0;
  std::uint64_t size_ = 0;
};

std::string Sha256(std::span<const std::byte> bytes, Sha256Instructions instructions = Sha256Instructions::kBest);

// Read part by part, however large it is; nullopt where it is no regular file or cannot be read.
std::optional<std::string> Sha256OfFile(const std::filesystem::path& path);

}  // namespace infimum
