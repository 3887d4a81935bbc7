// What `infimum explain` found out: choices of a program, switched on and off, with what each of them costs.
//
//   factor        effect    95 %                 real  level 0 -> 1
//   layer1.conv1  +402 µs   380 µs to 424 µs     yes   onednn/brgconv:avx512_core -> onednn/gemm:jit
//   layer1.conv2  +0.8 µs   -21.1 µs to 22.7 µs  no    onednn/jit:avx512_core -> onednn/brgconv:avx512_core
//
// An effect is real where zero is outside of the interval that holds together with all others'.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/effects/effects.h"

namespace infimum {

// What distinguishes the two levels of a factor.
enum class FactorKind {
  kKernel,  // "kernel": the same layers, another candidate
  kFusion,  // "fusion": other layers run as one
  kSwitch,  // "switch": a framework's own; `layers` is empty
};
std::string_view Name(FactorKind kind);

struct ExplainedFactor {
  std::string name;
  FactorKind kind = FactorKind::kKernel;
  std::string level0, level1;       // what runs
  std::vector<std::string> layers;  // of the model
};

struct Explanation {
  std::string model;
  std::string device;
  std::string level0, level1;  // "the best known kernels", "as onnxruntime 1.31.1 ran them"
  std::vector<ExplainedFactor> factors;
  Effects effects;
  std::vector<std::string> notes;  // what was checked, and what the numbers do not say
};

// Of the run as which a store keeps an explanation: its setting `explanation` is the JSON, `level1` the program's name.
inline constexpr std::string_view kExplainFramework = "infimum-explain";
// "fused and timed like onnxruntime 1.31.1", of which level 1 is one
std::string ProgramLike(std::string_view framework, std::string_view version);

// For a terminal: both ends, each factor by the size of its effect, the sum test and what it rests on. `width` 0: as
// wide as needed.
std::string ExplanationText(const Explanation& explanation, std::size_t width);
// One line a factor, in the order of the program.
std::string ExplanationCsv(const Explanation& explanation);
// infimum.explain/1
std::string ExplanationJson(const Explanation& explanation);

}  // namespace infimum
