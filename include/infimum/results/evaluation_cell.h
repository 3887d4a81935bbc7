// A cell of an evaluation: one model at its dimensions, on a device, by a framework, and how that is measured. And what
// became of it.
//
//   EvaluationCell cell;
//   cell.model = {.family = "fc", .choices = {{"layers", "16"}}};
//   cell.threads = 2;
//   CanonicalText(cell)   // {"framework":{"name":"onnxruntime"},"model":{"choices":{"layers":"16"},"family":"fc"},...
//   HashOf(cell)          // SHA-256 of it, in hexadecimal digits
//
// Whatever may change a time or a result is in the text, and nothing else: neither names nor paths of files, nor the
// machine. What is as usual is left out, so that a later version's new field keeps the hashes of older files. What only
// the machine tells (versions, clocks) is evidence of a result.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "infimum/base/result.h"
#include "infimum/base/units.h"
#include "infimum/measurement/statistics.h"

namespace infimum {

struct CellModel {
  std::string family = {};                          // of src/synth; empty: a file
  std::map<std::string, std::string> choices = {};  // of its parameters, where they are not the usual ones
  std::optional<std::int64_t> weights = {};         // seed of stored ones; absent: made at load
  std::string sha256 = {};                          // of a file; behind a '+' of its weights beside it
};

struct CellFramework {
  std::string name = {};
  std::string version = {};  // that it must have; empty: any
  std::string mode = {};     // "compiled"
  std::string module = {};   // of PyTorch; of a cell with the content's SHA-256 in place of the file
  std::map<std::string, std::string> options = {};
};

struct CellMethod {
  double seconds = 1;                      // of sampling, in each process
  std::int64_t processes = 3;              // with a warm-up each
  std::int64_t time_limit_s = 300;         // for the whole cell
  std::optional<Bytes> memory_limit = {};  // of the framework's process; absent: the machine's
};

enum class CellQuantity : std::uint8_t {
  kLatency,  // of one inference after a warm-up, by a framework
  kFloor,    // of a device that need not be there: what its data sheet, or its peaks, leave as least
};
std::string_view Name(CellQuantity quantity);

struct EvaluationCell {
  CellModel model;
  std::map<std::string, std::int64_t> dims = {};
  std::string contract = {};  // empty: what the model's own types ask for
  std::string device = {};    // its name; empty: whichever it is run on
  CellQuantity quantity = CellQuantity::kLatency;
  CellFramework framework;
  std::int64_t threads = 1;
  std::string cores = {};  // to run on; empty: quiet ones
  std::int64_t input = 1;  // seed of its values
  CellMethod method;
};

std::string CanonicalText(const EvaluationCell& cell);
// The reverse; an error names what does not fit.
Result<EvaluationCell> ParseCell(std::string_view text);
std::string HashOf(const EvaluationCell& cell);

// All that is said of a cell, flat: {"framework.name", "onnxruntime"}, {"model.choices.layers", "16"}, by name.
std::vector<std::pair<std::string, std::string>> FieldsOf(const EvaluationCell& cell);

// "onnxruntime compiled, 2 threads, batch=8": what tells cells of one model apart.
std::string ConditionsOf(const EvaluationCell& cell);

enum class CellState : std::uint8_t {
  kOk,
  kOutOfMemory,  // by estimate, or of the framework's process
  kTimeout,      // of its time limit
  kFailed,
  kUnsupported,  // the framework says that it cannot
  kSkipped,      // nothing was tried, as on another device than the cell's
};
std::string_view Name(CellState state);  // "ok", "oom", "timeout", "failed", "unsupported", "skipped"

// What is known of a cell's model without running it.
struct CellFacts {
  std::optional<std::int64_t> parameters = {};
  std::optional<Flops> flops = {};    // by the textbook
  std::optional<Bytes> bytes = {};    // compulsory, layer by layer
  std::optional<Bytes> weights = {};  // all of them
  std::optional<Bytes> memory = {};   // weights, and the most of intermediates that lives at once
  std::optional<Latency> floor = {};  // textbook, on the device
  std::string decided_by = {};        // what decides it: "arithmetic f32", "bandwidth memory, weights" (or "inputs")
  std::optional<Bytes> inputs = {};   // that must be read of the inputs, such as caches
};

struct CellResult {
  CellState state = CellState::kOk;
  std::string reason = {};       // why it is not ok
  std::string measured_at = {};  // UTC
  CellFacts facts = {};
  bool verifies = false;  // measured only to be held against the one before it
  std::string framework_version = {};
  std::map<std::string, std::string> evidence = {};  // of libraries, host, system, clocks; and samples of the outputs
  std::vector<Repetition> repetitions = {};          // one for each process of one that is ok
};

}  // namespace infimum
