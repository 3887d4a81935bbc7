// What a replay found out: how long the whole took, what its parts take alone, and whether the numbers are right.
//
//   R 41.2 ms   its parts alone: 36.1 ms warm, 39.8 ms with cold weights; of 105 MiB that an inference goes through the
//               caches keep 0.18 until its turn comes again: expected 0.18 x 36.1 + 0.82 x 39.8 = 39.1 ms, composition
//               error 41.2 / 39.1 = 1.053
//   step conv1 onednn/brgconv:avx512_core 402 us (in the loop 430 us), error 1e-7 of 7e-6 allowed
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/base/result.h"
#include "infimum/base/units.h"
#include "infimum/graph/run_profile.h"
#include "infimum/measurement/measurement.h"

namespace infimum {

// One step, or a change of layout between two.
struct ReplayPart {
  std::string name;
  std::string candidate;  // what ran: not always what the schedule asked for
  bool is_reorder = false;
  std::size_t step = 0;  // of the schedule; of a reorder the step that it is for
  Latency alone{0};      // again and again on the same buffers: the median, in the process that was fastest as a whole
  Latency in_loop{0};    // between its neighbours, caches as they leave them: likewise
  // The largest error against the f64 reference on the operands that it had, and what its contract allows, in the
  // measure of the contract. Absent for reorders, which only move, and where there is no reference.
  std::optional<double> error;
  double tolerance = 0;
  // As `alone`, its constants in memory each time; absent where it has none that can be moved.
  std::optional<Latency> alone_cold_weights = std::nullopt;
  Bytes constants = {};  // that can be moved: weights that it reads, as they are packed

  friend bool operator==(const ReplayPart&, const ReplayPart&) = default;
};

// An output of the model against what it was expected to be.
struct ReplayOutput {
  std::string name;
  double error = 0;  // the largest |difference| / the largest |expected|
  double tolerance = 0;

  friend bool operator==(const ReplayOutput&, const ReplayOutput&) = default;
};

struct ReplayResult {
  std::vector<RunRepetition> repetitions;  // samples of the whole, by process
  std::vector<ReplayPart> parts;           // in the order in which they run
  std::vector<ReplayOutput> outputs;
  Bytes weights;           // that each inference reads, in the layouts that the candidates want
  Bytes arena;             // for all intermediates
  Bytes last_level_cache;  // as the device describes itself; 0 where unknown
  // Of constants() + arena, gone through again and again, the share that the caches keep, in that process too.
  // Absent where the backend cannot tell.
  std::optional<double> resident_share;
  // Of a schedule with factors: one inference after each entry of its design, as far as the time sufficed. Its parts
  // then have no times, and `repetitions` are the inferences with all factors at level 0.
  std::vector<Latency> inferences = {};
  // Likewise one before each of them; none where the backend has no metronome.
  std::vector<Beat> beats = {};
  // Why the whole's time is none, as in RunProfile; empty: it is one.
  std::string noisy = {};

  // The point value of the whole.
  Latency demonstrated() const;
  // Of the parts, warm or with cold weights; a part without constants that can be moved is warm in both.
  Latency sum_alone(CacheState cache) const;
  Latency sum_in_loop() const;
  Bytes constants() const;

  // resident_share; where it was not found out, 0 if the weights are more than the last-level cache, and else 1.
  double share_near() const;
  // Of the two that parts are measured in, the state nearer to how the model's layers find their weights.
  CacheState cache_of_weights() const;
  // The sum of its parts alone with weights as near as an inference leaves them to the next: that with cold weights
  // and, for share_near() of the way, the warm one.
  Latency sum_expected() const;
  // R / the sum of its parts alone: how much of R no row of any of them explains.
  double composition_error(CacheState cache) const { return demonstrated() / sum_alone(cache); }
  double composition_error() const { return demonstrated() / sum_expected(); }

  // "output 'logits': error 0.2 over tolerance 0.0004", or what step went wrong; nullopt where all is right.
  std::optional<std::string> FirstFault() const;

  friend bool operator==(const ReplayResult&, const ReplayResult&) = default;
};

// Of two processes that ran the same schedule: the times of both, the checks of `first`, and the parts' times of the
// one that was faster as a whole, since a process that the machine slows down slows its parts as well (a part's with
// weights from memory from the other where that one has none). Where one of them is noisy, all times of the other. An
// error where their parts differ.
Result<ReplayResult> Joined(ReplayResult first, const ReplayResult& second);

// A JSON document, "infimum.replay/1".
std::string FormatReplayResult(const ReplayResult& result);
Result<ReplayResult> ParseReplayResult(std::string_view text);

}  // namespace infimum
