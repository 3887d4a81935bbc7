#include "src/synth/weight_values.h"

#include <bit>
#include <cmath>

namespace infimum::synth {
namespace {

// The nearest value of the type, as its bits; of |value| up to 65504.
std::uint16_t HalfBits(DataType type, float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (type == DataType::kBF16) return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
  const std::uint32_t sign = (bits >> 16) & 0x8000U;
  // Below the smallest normal number steps are of 2^-24.
  if (std::abs(value) < 0x1p-14F)
    return static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(std::lrint(std::abs(value) * 0x1p24F)));
  // The exponent from a bias of 127 to one of 15; 13 bits fewer.
  const std::uint32_t rounded = (bits & 0x7fffffffU) + 0xfffU + ((bits >> 13) & 1U);
  return static_cast<std::uint16_t>(sign | ((rounded >> 13) - (112U << 10)));
}

// SplitMix64 (Steele, Lea and Flood 2014): each element by its place alone.
std::uint64_t Mixed(std::uint64_t state) {
  state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9ULL;
  state = (state ^ (state >> 27)) * 0x94d049bb133111ebULL;
  return state ^ (state >> 31);
}

constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15ULL;

}  // namespace

WeightValues ValuesOfProduct(DataType type, std::int64_t fan_in) {
  const auto products = static_cast<double>(fan_in);
  return {type, 1 / products, 0, std::sqrt(3 / products)};
}

double MadeValue(const WeightValues& values, std::size_t number) {
  if (values.type == DataType::kBool) return values.made;
  // In steps that bf16 tells apart.
  const auto step = static_cast<double>((number % 16 + 1) / 2) * (number % 2 == 0 ? -1 : 1);
  if (!IsInteger(values.type)) return values.made * (1 + step / 128);
  return values.made + static_cast<double>(number % 3);
}

bool HasValues(DataType type) {
  return type == DataType::kF16 || type == DataType::kBF16 || type == DataType::kF32 || type == DataType::kF64 ||
         ((type == DataType::kBool || IsInteger(type)) && BitsPerElement(type) >= 8);
}

void AppendValue(DataType type, double value, std::string& bytes) {
  // Little-endian, as ONNX has them.
  std::uint64_t bits = 0;
  if (type == DataType::kF64)
    bits = std::bit_cast<std::uint64_t>(value);
  else if (type == DataType::kF32)
    bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  else if (IsFloatingPoint(type))
    bits = HalfBits(type, static_cast<float>(value));
  else
    bits = static_cast<std::uint64_t>(std::lrint(value));
  bytes.append(reinterpret_cast<const char*>(&bits), static_cast<std::size_t>(SizeOf(type, 1).value));
}

std::uint64_t RandomState(std::uint64_t seed, std::uint64_t weight) { return Mixed(seed * kStep + weight); }

void AppendRandom(const WeightValues& values, std::uint64_t state, std::int64_t first, std::int64_t count,
                  std::string& bytes) {
  for (std::int64_t i = first; i < first + count; ++i) {
    const std::uint64_t random = Mixed(state + static_cast<std::uint64_t>(i + 1) * kStep);
    const double unit = static_cast<double>(random >> 11) * 0x1p-52 - 1;
    const double value = values.middle + unit * values.spread;
    if (BitsPerElement(values.type) >= 8) {
      AppendValue(values.type, value, bytes);
    } else if (const auto half = static_cast<unsigned char>(std::lrint(value) & 0xf); i % 2 == 0) {
      bytes.push_back(static_cast<char>(half));
    } else {
      bytes.back() = static_cast<char>(static_cast<unsigned char>(bytes.back()) | (half << 4));
    }
  }
}

}  // namespace infimum::synth
