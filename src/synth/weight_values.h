// Values for weights of which a file has none: all the same, or random, each by the seed, its weight and its place.
//
//   WeightValues values = ValuesOfProduct(DataType::kF32, 64);        // made 1/64; random even within +-sqrt(3/64)
//   AppendValue(values.type, values.made, bytes);                     // one element
//   AppendRandom(values, RandomState(1, 7), 0, 4096, bytes);          // the first 4096 elements of weight 7 by seed 1
#pragma once

#include <cstdint>
#include <string>

#include "infimum/layer/data_type.h"

namespace infimum::synth {

struct WeightValues {
  DataType type = DataType::kF32;
  double made = 1;                // where all elements are the same
  double middle = 1, spread = 0;  // random ones are even within middle +- spread
};

// What all elements of the `number`th made weight of two dimensions or more are: other than its neighbours', else a
// framework takes weights of one shape for one and computes their products once.
double MadeValue(const WeightValues& values, std::size_t number);

// Of products that sum `fan_in` of them: sums have the variance of their operand.
WeightValues ValuesOfProduct(DataType type, std::int64_t fan_in);

// Of integers of whole bytes, bool, f64, f32, f16 and bf16; of 16 bits |value| up to 65504.
bool HasValues(DataType type);
void AppendValue(DataType type, double value, std::string& bytes);

std::uint64_t RandomState(std::uint64_t seed, std::uint64_t weight);
// Two of 4 bits are a byte, of which `first` begins one.
void AppendRandom(const WeightValues& values, std::uint64_t state, std::int64_t first, std::int64_t count,
                  std::string& bytes);

}  // namespace infimum::synth
