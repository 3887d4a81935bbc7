#include "microbench/cpu/row_major.h"

#include <algorithm>

#include "infimum/base/clock.h"
#include "microbench/cpu/offers.h"

namespace infimum::cpu {
namespace {

// The least of a few runs.
Result<Clock::Duration> TimeOf(Program& program) {
  Clock::Duration least = Clock::Duration::max();
  INFIMUM_RETURN_IF_ERROR(RunRowMajor(program));
  for (int i = 0; i < 3; ++i) {
    const Clock::Duration begin = SteadyClock().Now();
    INFIMUM_RETURN_IF_ERROR(RunRowMajor(program));
    least = std::min(least, SteadyClock().Now() - begin);
  }
  return least;
}

}  // namespace

Status RunRowMajor(Program& program) {
  INFIMUM_RETURN_IF_ERROR(program.Pack());
  INFIMUM_RETURN_IF_ERROR(program.Run());
  return program.Unpack();
}

MadeProgram FastestRowMajor(const Problem& problem, const LayerValues& values) {
  std::unique_ptr<Program> best;
  Clock::Duration best_time = Clock::Duration::max();
  std::string reason = "no candidate for " + std::string(FamilyOf(problem.config));
  for (const Offer& offer : OffersFor(problem.config, CandidateTier::kEngine, values)) {
    MadeProgram program = offer.make(problem);
    if (!program) {
      reason = program.error().message;
      continue;
    }
    const Result<Clock::Duration> time = TimeOf(**program);
    if (!time || *time >= best_time) continue;
    best_time = *time;
    best = std::move(*program);
  }
  if (best == nullptr) return Error{"unsupported: " + reason};
  return best;
}

}  // namespace infimum::cpu
