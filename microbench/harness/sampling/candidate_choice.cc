#include "microbench/harness/sampling/candidate_choice.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <tuple>

#include "infimum/measurement/statistics.h"
#include "infimum/results/results_journal.h"
#include "microbench/reference/step_reference.h"

namespace infimum {
namespace {

struct Fastest {
  Latency time{0};
  Candidate candidate;
};

}  // namespace

Status ChooseMeasured(const std::vector<std::string>& journals, ReplaySchedule& schedule) {
  std::map<std::pair<std::string, NumericContract>, Fastest> fastest;
  for (const std::string& path : journals) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return Error{path + ": cannot be read: " + std::strerror(errno)};
    const auto take = [&](const ResultsRecord& record) -> Status {
      const auto* row = std::get_if<Measurement>(&record);
      if (row == nullptr || row->outcome != Outcome::kMeasured || row->cache != CacheState::kWarm) return {};
      // What no graph can hold would cost the whole run its graph.
      if (std::find(row->flags.begin(), row->flags.end(), "uncaptured") != row->flags.end()) return {};
      const Latency time = PointValue(row->repetitions);
      Fastest& best = fastest[{row->workload.text, row->contract}];
      if (best.candidate.library.empty() || time < best.time) best = {time, row->candidate};
      return {};
    };
    INFIMUM_RETURN_IF_ERROR(ReadJournal(file, path, take));
  }
  for (ReplayStep& step : schedule.steps) {
    const auto found = fastest.find({KeyOf(step.workload).text, cpu::ContractOf(step.workload, schedule)});
    if (found == fastest.end()) continue;
    const Candidate& candidate = found->second.candidate;
    step.candidate = {candidate.name(), candidate.input_layout, candidate.output_layout};
  }
  return {};
}

}  // namespace infimum
