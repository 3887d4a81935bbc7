#include "microbench/harness/sampling/trial.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <utility>

#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"

namespace infimum {
namespace {

constexpr std::string_view kUnsupportedPrefix = "unsupported: ";

Trial Unmeasured(Outcome outcome, std::string reason) {
  Trial trial;
  trial.outcome = outcome;
  trial.reason = std::move(reason);
  return trial;
}

Trial FailedOrUnsupported(const Error& error) {
  if (error.message.starts_with(kUnsupportedPrefix))
    return Unmeasured(Outcome::kUnsupported, error.message.substr(kUnsupportedPrefix.size()));
  return Unmeasured(Outcome::kFailed, error.message);
}

// Three digits are enough to judge an error by.
std::string ErrorText(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

std::optional<ClockRange> RangeOf(std::optional<double> before, std::optional<double> after) {
  if (!before || !after) return std::nullopt;
  return ClockRange{std::min(*before, *after), std::max(*before, *after)};
}

Trial RunPrepared(Backend& backend, const TrialRequest& request, TrialTools tools) {
  INFIMUM_CHECK(request.sampler.least_samples > 0, "a trial needs samples");
  const Result<Workload> workload = ParseWorkload(request.workload);
  if (!workload.ok()) return Unmeasured(Outcome::kFailed, workload.error().message);

  Result<std::unique_ptr<PreparedRun>> prepared = backend.Prepare(*workload, request.candidate, request.contract);
  if (!prepared.ok()) return FailedOrUnsupported(prepared.error());
  PreparedRun& run = **prepared;
  tools.prepared();

  const Result<Latency> first = TimeFirstLaunch(run, backend.clock(), tools.interference);
  if (!first.ok()) return FailedOrUnsupported(first.error());
  if (request.skip_above && *first > *request.skip_above) {
    std::string reason = "one run took " + FormatLatency(*first);
    if (request.best) {
      reason += ", more than " + FormatNumber(*request.skip_above / *request.best) + " x the best candidate's " +
                FormatLatency(*request.best);
    }
    return Unmeasured(Outcome::kSkipped, std::move(reason));
  }

  std::optional<double> numeric_error;
  if (request.check_numbers) {
    const Result<std::optional<double>> checked = run.NumericError();
    if (!checked.ok()) return FailedOrUnsupported(checked.error());
    numeric_error = *checked;
    const double tolerance = Tolerance(request.contract, *workload);
    // Written so that NaN fails.
    if (numeric_error && !(*numeric_error <= tolerance)) {
      Trial trial = Unmeasured(
          Outcome::kFailed, "numeric error " + ErrorText(*numeric_error) + " over tolerance " + ErrorText(tolerance));
      trial.numeric_error = numeric_error;
      return trial;
    }
  }

  const std::optional<double> frequency_before = backend.FrequencyMhz();
  std::optional<Beat> beats[2] = {backend.TakeBeat(), std::nullopt};
  const Result<SampleSet> set =
      TakeSamples(run, request.cache, request.sampler, backend.clock(), tools.interference, tools.flusher);
  if (!set.ok()) return FailedOrUnsupported(set.error());
  Trial trial;
  trial.outcome = Outcome::kMeasured;
  trial.repetition = Summarize(set->samples);
  trial.repetition->clocks = RangeOf(frequency_before, backend.FrequencyMhz());
  beats[1] = backend.TakeBeat();
  trial.repetition->beat = MeanOf(beats);
  trial.numeric_error = numeric_error;
  if (const Bytes constants = run.constants(); constants.value > 0) trial.constants = constants;
  if (set->launch_bound) trial.flags.emplace_back("launch_bound");
  if (set->noisy) trial.flags.emplace_back("noisy");
  if (set->gave_up) trial.flags.emplace_back("pruned");
  if (set->unconverged) trial.flags.emplace_back("unconverged");
  for (std::string& flag : run.TimingFlags()) trial.flags.push_back(std::move(flag));
  trial.sampling = set->spent;
  return trial;
}

}  // namespace

Trial RunTrial(Backend& backend, const TrialRequest& request, TrialTools tools) {
  // Backends return errors; what still arrives as an exception costs this row, not the worker.
  try {
    return RunPrepared(backend, request, tools);
  } catch (const std::bad_alloc&) {
    return Unmeasured(Outcome::kFailed, "out of memory, raise --max-memory");
  } catch (const std::exception& exception) {
    return Unmeasured(Outcome::kFailed, "exception " + Quoted(exception.what()));
  }
}

}  // namespace infimum
