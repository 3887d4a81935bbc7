// Which rows a Selection admits, defined once for every source: a store loads the rows of the asked
// workloads and hands them over, a source in memory does the same.
//
//   rows of onednn in environments E1 (newest row of 1 May) and E2 (3 May), of infimum in E1 only;
//   no environment selected  ->  onednn's rows of E2 and infimum's rows of E1
#pragma once

#include <map>
#include <vector>

#include "infimum/measurement/measurement_source.h"

namespace infimum {

// Keeps, in their order, the rows
//  - of the selected device and cache state,
//  - of an environment that `environments` knows, with the selected number of threads,
//  - of the selected contract, or where none is selected of the workload's NativeContract (a row whose
//    workload text is not valid has none and is dropped),
//  - of the selected environment, or where none is selected, for each candidate library, of the one
//    environment that has the newest row of that library among those that passed the other conditions.
//    Two that are equally new: the greater key, so that the choice does not depend on the order.
std::vector<Measurement> Admitted(std::vector<Measurement> rows,
                                  const std::map<EnvironmentKey, Environment>& environments,
                                  const Selection& selection);

}  // namespace infimum
