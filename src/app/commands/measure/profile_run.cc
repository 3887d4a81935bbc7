#include "src/app/commands/measure/profile_run.h"

#include <utility>
#include <variant>

#include "analyzer/trace/timeline_run.h"

namespace infimum {

RunProfile RunOfProfile(Profile profile) {
  if (auto* run = std::get_if<RunProfile>(&profile)) return std::move(*run);
  return RunOf(std::get<Timeline>(profile));
}

}  // namespace infimum
