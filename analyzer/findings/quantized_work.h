// What of a quantized model's run computes on 8 bits, what in floating point, and what it takes to go to and fro.
//
//   QLinearConv 815 us, DequantizeLinear 30 us, Conv 932 us, QuantizeLinear 10 us
//     in_integers 815 us, in_float 932 us, conversions 40 us
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/findings/engine_layers.h"

namespace infimum::findings {

struct QuantizedWork {
  TimeBy in_float, in_integers;  // convolutions and matmuls, by their names
  TimeBy writing_float;          // of those on 8 bits what writes floating point
  // Of those in floating point: what is between DequantizeLinear and QuantizeLinear as the engine wants it, and
  // what of that reads signed 8 bits and is written unsigned, or the reverse.
  std::int64_t between_conversions = 0;
  std::int64_t of_mixed_types = 0;
  // Of those in floating point: products whose weights alone were quantized, and are dequantized in each inference.
  std::int64_t of_stored_weights = 0;
  // By operator, the reorders between both among them; without those of the model's own inputs.
  TimeBy conversions;
  std::vector<std::size_t> converting;  // indices into RunProfile::layers
  bool is_quantized = false;            // some of it is on 8 bits, or goes there

  std::int64_t heavy() const { return in_float.count() + in_integers.count(); }
};

// Of these layers, indices into RunProfile::layers.
QuantizedWork QuantizedWorkOf(const RunProfile& run, const std::vector<std::size_t>& layers);

// "20 of them are between ... and read signed 8 bits but write unsigned"; empty where none mixes types.
std::string MixedTypesText(const QuantizedWork& work);

// What brings layers from floating point to 8 bits.
std::string ActionForFloatLayers(const RunProfile& run, const QuantizedWork& work);

}  // namespace infimum::findings
