// A whole model as a list of candidates to run one after the other on real buffers: what a runner replays.
//
//   tensors   0 input 1x3x224x224   1 weight 64x3x7x7   2 weight 64   3 intermediate   4 intermediate, output
//   steps     convolution ... with onednn/brgconv:avx512_core   (0, 1, 2) -> 3
//             pointwise kind=relu ... with infimum/pointwise:avx512  (3) -> 4
//
// Tensors are whole values of the model in row-major order; a step sees the same elements in the shape that its
// workload gives them (canonical shapes merge dimensions), and views are no steps: their result is the tensor that
// they look at. Layouts and memory are the runner's affair.
//
// A schedule may leave choices open: *factors*, each of which runs some steps at level 0 and others in their place at
// level 1. `design` says which, inference by inference, and any combination is a program:
//
//   factors   conv1                    design   0   1   1   0
//   steps     conv1 + relu  (0, 1) -> 3            with level {factor 0, level 0}
//             conv1         (0, 1) -> 2            with level {factor 0, level 1}
//             relu          (2) -> 3               with level {factor 0, level 1}
//
// A step that reads weights alone and writes a weight (a transposed matrix, a folded normalisation) runs once, before
// the first inference, and is not timed. Such steps may read weights that no model has: `fill` gives their elements.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/base/result.h"
#include "infimum/layer/workload.h"

namespace infimum {

// What a configuration leaves open because it changes results, not cost, by the names of the runner
// (microbench/reference/values.h):
// {"epsilon": {1e-12}}, {"starts": {0, 1, 0}}. A name that is absent has the default that benchmarks use.
using ReplayValues = std::map<std::string, std::vector<double>>;

// Values whose numbers are the elements of a weight, by its index: {"in1_scale": 12} for the scales of a convolution's
// weights, one for each output channel.
using ReplayValueTensors = std::map<std::string, std::size_t>;

enum class ReplayTensorKind { kInput, kWeight, kIntermediate };
std::string_view Name(ReplayTensorKind kind);  // "input", "weight", "intermediate"

struct ReplayTensor {
  std::string name;  // unique; of inputs and weights that no step makes, what their elements are found under
  ReplayTensorKind kind = ReplayTensorKind::kIntermediate;
  DataType type = DataType::kF32;
  Shape shape;
  bool is_output = false;  // of the model: compared with what `name` is in the tensors that came with the schedule
  std::optional<double> fill = std::nullopt;  // of a weight that the schedule itself makes: all its elements

  friend bool operator==(const ReplayTensor&, const ReplayTensor&) = default;
};

// Whether a step runs: where the factor of that number is at that level.
struct ReplayLevel {
  std::size_t factor = 0;
  std::size_t level = 0;  // 0 or 1

  friend bool operator==(const ReplayLevel&, const ReplayLevel&) = default;
};

// What is to run a step, by name; an empty name is any that runs.
struct ReplayCandidate {
  std::string name;  // "onednn/brgconv:avx512_core"
  // As it states them. Of several of one name that differ in them alone (a plan of cuDNN's on channels last and first)
  // they name them; empty where they are not known.
  std::string input_layout = {};
  std::string output_layout = {};

  ReplayCandidate() = default;
  ReplayCandidate(const char* text) : name(text) {}             // NOLINT: a name alone is one
  ReplayCandidate(std::string text) : name(std::move(text)) {}  // NOLINT
  ReplayCandidate(std::string text, std::string input, std::string output)
      : name(std::move(text)), input_layout(std::move(input)), output_layout(std::move(output)) {}
  friend bool operator==(const ReplayCandidate&, const ReplayCandidate&) = default;
};

// Of a transpose, concatenation or split: it moves nothing. Results of a transpose or a split are their operand's
// memory, or a part of it, in a layout that their readers take; operands of a concatenation are written where its
// result, in the candidate's output layout, has them.
inline constexpr std::string_view kViewCandidate = "infimum/view";

struct ReplayStep {
  std::string name;                 // for people
  std::vector<std::string> layers;  // the graph's layers that it runs
  Workload workload;
  ReplayCandidate candidate;  // empty where none was measured
  // Indices of tensors: of a layer by OperandsOf and OutputsOf; of a region in0, in1 ..., then w0, w1 ..., and its
  // outputs in their order.
  std::vector<std::size_t> operands;
  std::vector<std::size_t> outputs;
  std::vector<ReplayValues> values;                    // one for a layer, one for each member of a region
  std::vector<ReplayValueTensors> value_tensors = {};  // likewise, or none at all where no value is a tensor
  std::optional<ReplayLevel> level = std::nullopt;     // absent: it always runs

  friend bool operator==(const ReplayStep&, const ReplayStep&) = default;
};

struct ReplaySchedule {
  std::string model;
  std::vector<ReplayTensor> tensors;
  std::vector<ReplayStep> steps;  // producers before consumers
  // The contract that the model is run under, where its types leave it open: "tf32". Empty: that of each step's types.
  std::string contract = {};
  std::vector<std::string> factors = {};  // names, for people
  // '0' or '1' of each factor for each inference to time, in this order. Without factors none.
  std::vector<std::string> design = {};

  friend bool operator==(const ReplaySchedule&, const ReplaySchedule&) = default;
};

// Operands and outputs that a step's workload asks for, in the order of ReplayStep.
std::vector<Operand> OperandsOf(const Workload& workload);
std::vector<Operand> OutputsOf(const Workload& workload);

// Whether all that a step writes are weights: it runs once, before the first inference.
bool RunsOnce(const ReplaySchedule& schedule, const ReplayStep& step);

// Whether a step or part of that level runs in an inference whose factors are at these levels ('0' or '1' each).
inline bool RunsAt(const std::optional<ReplayLevel>& level, std::string_view levels) {
  return !level || levels[level->factor] == static_cast<char>('0' + level->level);
}

// Indices in range, element counts and types of the workloads, one producer a tensor and before its first reader,
// nothing written to an input, weights made of weights alone, every intermediate produced, values in weights that are
// there. The steps of a factor follow one another, those of level 0 first; what is read behind them is made at both
// levels, and a tensor made at one alone is no output. A schedule that passes makes no runner crash.
Status Validate(const ReplaySchedule& schedule);

}  // namespace infimum
