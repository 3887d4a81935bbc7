// Which rows a Selection admits, defined once for every source: a store loads the rows of the asked
// workloads and hands them over, a source in memory does the same.
//
//   asked are ten workloads; of onednn's rows environment E1 (1 May) has all ten, E2 (3 May) has all ten, E3 (5 May)
//   has four; infimum's rows are of E1 only
//   no environment selected  ->  onednn's rows of E2 and infimum's rows of E1
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "infimum/measurement/measurement_source.h"

namespace infimum {

// The places in `rows`, ascending, of the rows
//  - of the selected device,
//  - of the selected cache state, or of the one whose rows stand for it (StateOfRows),
//  - of an environment that `environments` knows, with the selected number of threads,
//  - of the selected contract, or where none is selected of the workload's NativeContract (a row whose
//    workload text is not valid has none and is dropped),
//  - of the selected environment, or where none is selected, for each candidate library, of one environment among
//    those of the rows that passed the other conditions: the one in which most workloads were tried (measured, failed
//    or unsupported; a campaign that has only begun does not hide a finished one); of equals the one with the newest
//    row; of those the greater key, so that the choice does not depend on the order. Of what was observed each
//    framework's version is a library.
std::vector<std::size_t> AdmittedPlaces(std::span<const Measurement> rows,
                                        const std::map<EnvironmentKey, Environment>& environments,
                                        const Selection& selection);

// The rows themselves, in their order.
std::vector<Measurement> Admitted(std::vector<Measurement> rows,
                                  const std::map<EnvironmentKey, Environment>& environments,
                                  const Selection& selection);

}  // namespace infimum
