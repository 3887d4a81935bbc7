#include "infimum/base/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <vector>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace infimum {
namespace {

constexpr std::size_t kBlock = 64;
using State = std::array<std::uint32_t, 8>;

alignas(16) constexpr std::array<std::uint32_t, 64> kRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

void CompressPortable(State& state, const std::byte* data, std::size_t blocks) {
  for (; blocks > 0; --blocks, data += kBlock) {
    std::array<std::uint32_t, 64> word;
    for (std::size_t i = 0; i < 16; ++i) {
      std::uint32_t big_endian;
      std::memcpy(&big_endian, data + 4 * i, 4);
      word[i] = __builtin_bswap32(big_endian);
    }
    for (std::size_t i = 16; i < 64; ++i) {
      const std::uint32_t a = word[i - 15];
      const std::uint32_t b = word[i - 2];
      word[i] = word[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3)) + word[i - 7] +
                (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10));
    }
    auto [a, b, c, d, e, f, g, h] = state;
    for (std::size_t i = 0; i < 64; ++i) {
      const std::uint32_t t1 =
          h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) + kRound[i] + word[i];
      const std::uint32_t t2 = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g;
      g = f;
      f = e;
      e = d + t1;
      d = c;
      c = b;
      b = a;
      a = t1 + t2;
    }
    const State mixed = {a, b, c, d, e, f, g, h};
    for (std::size_t i = 0; i < 8; ++i) state[i] += mixed[i];
  }
}

#if defined(__x86_64__)

bool HasShaInstructions() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  const bool sha = __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & (1u << 29)) != 0;
  return sha && __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_SSE4_1) != 0;
}

// The instructions keep the state as two registers, ABEF and CDGH, and do four rounds at a time. `word[i % 4]`
// holds the four message words of group i; each group prepares the words of a later one.
__attribute__((target("sha,sse4.1,ssse3"))) void CompressWithShaInstructions(State& state, const std::byte* data,
                                                                             std::size_t blocks) {
  const __m128i byte_order = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  __m128i low = _mm_loadu_si128(reinterpret_cast<const __m128i*>(state.data()));       // DCBA
  __m128i high = _mm_loadu_si128(reinterpret_cast<const __m128i*>(state.data() + 4));  // HGFE
  low = _mm_shuffle_epi32(low, 0xB1);                                                  // CDAB
  high = _mm_shuffle_epi32(high, 0x1B);                                                // EFGH
  __m128i abef = _mm_alignr_epi8(low, high, 8);
  __m128i cdgh = _mm_blend_epi16(high, low, 0xF0);

  for (; blocks > 0; --blocks, data += kBlock) {
    const __m128i abef_before = abef;
    const __m128i cdgh_before = cdgh;
    __m128i word[4];
#pragma GCC unroll 16
    for (int group = 0; group < 16; ++group) {
      __m128i& current = word[group % 4];
      if (group < 4) {
        current = _mm_loadu_si128(reinterpret_cast<const __m128i*>(data + 16 * group));
        current = _mm_shuffle_epi8(current, byte_order);
      } else {
        const __m128i previous = word[(group + 3) % 4];
        const __m128i seven_back = _mm_alignr_epi8(previous, word[(group + 2) % 4], 4);
        current = _mm_sha256msg1_epu32(current, word[(group + 1) % 4]);
        current = _mm_sha256msg2_epu32(_mm_add_epi32(current, seven_back), previous);
      }
      __m128i sum = _mm_add_epi32(current, _mm_load_si128(reinterpret_cast<const __m128i*>(kRound.data() + 4 * group)));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, sum);
      sum = _mm_shuffle_epi32(sum, 0x0E);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, sum);
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }

  low = _mm_shuffle_epi32(abef, 0x1B);                                                            // FEBA
  high = _mm_shuffle_epi32(cdgh, 0xB1);                                                           // DCHG
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state.data()), _mm_blend_epi16(low, high, 0xF0));   // DCBA
  _mm_storeu_si128(reinterpret_cast<__m128i*>(state.data() + 4), _mm_alignr_epi8(high, low, 8));  // HGFE
}

#endif

void Compress(State& state, const std::byte* data, std::size_t blocks, Sha256Instructions instructions) {
#if defined(__x86_64__)
  static const bool has_instructions = HasShaInstructions();
  if (instructions == Sha256Instructions::kBest && has_instructions)
    return CompressWithShaInstructions(state, data, blocks);
#endif
  static_cast<void>(instructions);
  CompressPortable(state, data, blocks);
}

}  // namespace

void Sha256Hash::Add(std::span<const std::byte> bytes) {
  size_ += bytes.size();
  if (rest_size_ > 0) {
    const std::size_t taken = std::min(bytes.size(), kBlock - rest_size_);
    std::copy_n(bytes.begin(), taken, rest_.begin() + static_cast<std::ptrdiff_t>(rest_size_));
    rest_size_ += taken;
    bytes = bytes.subspan(taken);
    if (rest_size_ < kBlock) return;
    Compress(state_, rest_.data(), 1, instructions_);
  }
  const std::size_t whole = bytes.size() / kBlock;
  Compress(state_, bytes.data(), whole, instructions_);
  const std::span<const std::byte> rest = bytes.subspan(whole * kBlock);
  std::ranges::copy(rest, rest_.begin());
  rest_size_ = rest.size();
}

std::string Sha256Hash::Text() const {
  // The rest, one bit, zeros, and the length in bits as 64 bits, big end first.
  std::array<std::byte, 2 * kBlock> tail{};
  std::copy_n(rest_.begin(), rest_size_, tail.begin());
  tail[rest_size_] = std::byte{0x80};
  const std::size_t tail_blocks = rest_size_ < kBlock - 8 ? 1 : 2;
  const std::uint64_t bits = __builtin_bswap64(size_ * 8);
  std::memcpy(tail.data() + tail_blocks * kBlock - 8, &bits, 8);
  State state = state_;
  Compress(state, tail.data(), tail_blocks, instructions_);

  std::string text;
  text.reserve(64);
  for (const std::uint32_t word : state)
    for (int shift = 28; shift >= 0; shift -= 4) text += "0123456789abcdef"[(word >> shift) & 15u];
  return text;
}

std::string Sha256(std::span<const std::byte> bytes, Sha256Instructions instructions) {
  Sha256Hash hash(instructions);
  hash.Add(bytes);
  return hash.Text();
}

std::optional<std::string> Sha256OfFile(const std::filesystem::path& path) {
  std::error_code failed;
  if (!std::filesystem::is_regular_file(path, failed)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  Sha256Hash hash;
  std::vector<char> part(1 << 20);
  while (file.read(part.data(), static_cast<std::streamsize>(part.size())) || file.gcount() > 0)
    hash.Add(std::as_bytes(std::span(part.data(), static_cast<std::size_t>(file.gcount()))));
  return file.eof() ? std::optional(hash.Text()) : std::nullopt;
}

}  // namespace infimum
