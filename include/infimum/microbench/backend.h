// What a runner drives: a library that offers candidates for a workload and runs them on buffers.
//
//   for (const Candidate& candidate : *backend.Candidates(workload, contract, tier)) {
//     Result<std::unique_ptr<PreparedRun>> run = backend.Prepare(workload, candidate, contract);
//     (*run)->Run();   // once: what the sampler times
//   }
//
// The harness (sampler, worker, supervisor, journal) is the same for every backend. A benchmark lets the
// backend fill its buffers with seeded random values; a replay passes real ones.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "infimum/base/beat.h"
#include "infimum/base/clock.h"
#include "infimum/graph/replay_schedule.h"
#include "infimum/measurement/measurement.h"
#include "src/core/results/replay_result.h"
#include "src/core/results/tensor_folder.h"

namespace infimum {

// One prepared candidate: memory allocated and filled, code generated, constants prepacked.
class PreparedRun {
 public:
  virtual ~PreparedRun() = default;

  // One execution, finished when it returns. Never allocates.
  virtual Status Run() = 0;

  // For a device with its own clock: how long `launches` consecutive executions take by it, without what launching
  // them costs the host. nullopt: by the caller's clock around Run(). The same answer, time or nullopt, at each call.
  virtual Result<std::optional<Clock::Duration>> TimeLaunches(std::int64_t /*launches*/) {
    return std::optional<Clock::Duration>();
  }
  // The same of one execution that finds the device's caches full of something else; with `constants_alone` one ahead
  // of it, which had other copies of the constants, has brought back all but these.
  virtual Result<std::optional<Clock::Duration>> TimeColdLaunch(bool /*constants_alone*/) {
    return std::optional<Clock::Duration>();
  }
  // What an empty launch takes when it is timed so: what is not well above it is bound by launching. nullopt: what it
  // costs to read the caller's clock.
  virtual std::optional<Latency> TimingFloor() { return std::nullopt; }
  // Remarks of the device's own timing about its times: flags of the row ("throttled", "uncaptured").
  virtual std::vector<std::string> TimingFlags() { return {}; }

  // Compares the outputs of one execution with a reference, in the contract's measure (contract.h).
  // nullopt where there is no reference for this workload; an error where it could not be run.
  virtual Result<std::optional<double>> NumericError() = 0;

  // Bytes that the run touches; the sampler flushes at least this much for the cold state.
  virtual Bytes footprint() const = 0;

  // Bytes of constant operands that each run reads, as they were prepared (packed, converted). None where the workload
  // has none, and where they cannot be distinguished from other memory that the run touches.
  virtual Bytes constants() const { return {}; }

  // Makes copies of them, so that there are `copies` in all, and has each Run() read the next in turn; everything else
  // (operands, outputs, scratch memory, code) stays where it is. 1 goes back to the ones that were prepared. So the
  // sampler makes constants come from memory while all else is warm, without a word about any processor's caches.
  virtual Status RotateConstants(std::size_t copies) {
    return copies <= 1 ? Status() : Status(Error{"unsupported: its constant operands cannot be moved"});
  }
};

// A whole model, prepared: every step's candidate on its buffers, changes of layout between them.
class PreparedReplay {
 public:
  virtual ~PreparedReplay() = default;

  // Steps and changes of layout, in the order in which an inference runs them; their times are the harness's to fill.
  // Of a schedule with factors those of both levels: an inference leaves out what its levels do not run (RunsAt).
  virtual const std::vector<ReplayPart>& parts() const = 0;

  // One part on what its predecessors left. Running all of them in order is one inference; the same one may run again
  // and again in between, since no part overwrites what it reads. Never allocates.
  virtual Status Run(std::size_t part) = 0;

  // For a device with its own clock: how long the parts from `first` on, `last` excluded, take by it so many
  // times in a row; all of them together as an inference runs them, be it as one graph or on several streams. nullopt:
  // by the caller's clock around Run(). The same answer, time or nullopt, at each call.
  virtual Result<std::optional<Clock::Duration>> TimeParts(std::size_t /*first*/, std::size_t /*last*/,
                                                           std::int64_t /*launches*/) {
    return std::optional<Clock::Duration>();
  }
  // By that clock, each part of one inference between its neighbours.
  virtual Result<std::optional<std::vector<Latency>>> TimeEach() { return std::optional<std::vector<Latency>>(); }

  // One inference, each step compared with the f64 reference on the very operands that it had, then the outputs with
  // what is expected of them: `parts` and `outputs` of the result, without times. With factors two inferences, all of
  // them at level 0 and all at level 1, and the outputs of both.
  virtual Result<ReplayResult> Check() = 0;

  virtual Bytes weights() const = 0;  // that an inference reads, as packed
  virtual Bytes arena() const = 0;    // that the intermediates share

  // For one part, as in PreparedRun.
  virtual Bytes constants(std::size_t /*part*/) const { return {}; }
  virtual Status RotateConstants(std::size_t /*part*/, std::size_t copies) {
    return copies <= 1 ? Status() : Status(Error{"unsupported: its constant operands cannot be moved"});
  }
};

// How much of a device's peaks is measured.
enum class PeakDetail : std::uint8_t {
  kFirst,  // two seconds' worth, for a first answer: of the memory's curve a few working sets
  kWhole,
};

class Backend {
 public:
  virtual ~Backend() = default;

  virtual std::string_view name() const = 0;  // "onednn"
  virtual Result<Device> DescribeDevice() = 0;
  virtual Result<Environment> DescribeEnvironment() = 0;

  // Candidates in the library's own order of preference; the first is its choice. Empty where the
  // backend has nothing for the workload.
  virtual Result<std::vector<Candidate>> Candidates(const Workload& workload, NumericContract contract,
                                                    CandidateTier tier) = 0;

  // An error that starts with "unsupported: " becomes an unsupported row, every other a failed one.
  virtual Result<std::unique_ptr<PreparedRun>> Prepare(const Workload& workload, const Candidate& candidate,
                                                       NumericContract contract) = 0;

  // Tensors are read from the folder now; without one weights and inputs are random, and what is expected of the
  // outputs is what the steps left one by one. An error names the step that cannot be run.
  virtual Result<std::unique_ptr<PreparedReplay>> PrepareReplay(const ReplaySchedule&, const TensorFolder*) {
    return Error{"unsupported: backend " + std::string(name()) + " cannot replay models"};
  }

  // Peaks of the device: bandwidth over working sets (L1 to memory), arithmetic in every data type. Each probe
  // is one way to some of them, by a name for people ("bf16 tiles"); of equal peaks the best counts. A probe that
  // crashes costs what it alone would have found. All together take seconds.
  virtual std::vector<std::string> PeakProbes(PeakDetail detail) = 0;
  virtual Result<std::vector<PeakRate>> MeasurePeaks(std::string_view probe) = 0;

  // The share of a working set of so many bytes, read again and again, that the caches still hold at the next pass,
  // which begins so long after the one before, from 0 to 1, measured now: a shared cache holds less than its size, and
  // not for long. nullopt where it cannot be measured.
  virtual Result<std::optional<double>> ResidentShare(Bytes /*working_set*/, Clock::Duration /*between*/) {
    return std::optional<double>();
  }

  // The frequency that the device runs at now, in MHz, of a processor that of the core that asks; nullopt where the
  // system does not report it. Read before and after each repetition.
  virtual std::optional<double> FrequencyMhz() { return std::nullopt; }

  // What the fixed loops take now on the threads that measure, that of the cache where it is asked for; nullopt where
  // there are none. Taken before and after each repetition, and during replays.
  virtual std::optional<Beat> TakeBeat([[maybe_unused]] bool with_cache = false) { return std::nullopt; }

  // The clock that times Run(); a fake backend brings a fake one, which Run() advances.
  virtual const Clock& clock() const { return SteadyClock(); }
};

}  // namespace infimum
