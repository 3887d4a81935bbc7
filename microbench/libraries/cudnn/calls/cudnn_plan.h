// A plan of cuDNN's graph by its name, and cuDNN's notes on its arithmetic. The frontend is not needed here.
#pragma once

#include <cstdint>
#include <string>

namespace cudnn {

// cuDNN's notes on an engine.
struct Notes {
  bool tensor_core = false;
  bool down_converts_inputs = false;
  bool reduced_precision_sums = false;
  bool winograd = false;
  bool fft = false;
  bool nondeterministic = false;
  bool compiles_at_run_time = false;

  friend bool operator==(const Notes&, const Notes&) = default;
};

// "tensor-core winograd"
inline std::string Format(const Notes& notes) {
  std::string text;
  const auto add = [&](bool is_so, const char* name) {
    if (is_so) text += (text.empty() ? "" : " ") + std::string(name);
  };
  add(notes.tensor_core, "tensor-core");
  add(notes.down_converts_inputs, "down-converts-inputs");
  add(notes.reduced_precision_sums, "reduced-precision-sums");
  add(notes.winograd, "winograd");
  add(notes.fft, "fft");
  add(notes.nondeterministic, "nondeterministic");
  add(notes.compiles_at_run_time, "compiled-at-run-time");
  return text;
}

struct Plan {
  std::string name;  // "eng62_k2=5_k13=1": the engine and its settings, of this version of cuDNN
  std::int64_t engine = 0;
  Notes notes;
};

// In products of f32 an engine of the Tensor Cores keeps 10 bits of an operand's mantissa.
inline bool CutsOperands(const Notes& notes) { return notes.tensor_core || notes.down_converts_inputs; }

// Whether an engine with these notes can meet the numeric contract; engines of element-wise operations have the note of
// the Tensor Cores too, which says nothing about sums and copies.
inline bool MayMeet(const Notes& notes, const std::string& contract, bool is_float_product) {
  if (!is_float_product) return true;
  const bool cuts_operands = CutsOperands(notes);
  if (contract == "strict-f32") return !cuts_operands && !notes.reduced_precision_sums;
  return contract != "tf32" || cuts_operands;
}

}  // namespace cudnn
