// The commands by which a reader sees for himself what a finding says: its largest case measured again with all
// candidates, and their source to compile, read and change.
//
//   infimum bench --layer 'convolution ...' --db measurements.db --candidate onednn/brgconv:avx512_core
//   infimum emit --layer 'convolution ...' -o slower-algorithm-1
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analyzer/findings/finding.h"
#include "infimum/measurement/contract.h"

namespace infimum {

// Fills Finding::commands. `bench_options` as BenchOptions; absent where this device is not the one to measure on. What
// cannot be emitted has no command for it.
void AddCommands(const std::optional<std::string>& bench_options, std::optional<NumericContract> contract,
                 std::vector<Finding>& findings);

}  // namespace infimum
