// Whether a store is as it was written: what a database sees for itself, and what only its makers can.
//
//   CheckStore(connection, [](const std::string& problem) { ... });
//   // "measurements: 3 rows whose best_us is not the smallest median of their repetitions, the first with id 17"
#pragma once

#include <functional>
#include <string>

#include "db/connection/sql_connection.h"

namespace infimum {

Status CheckStore(Connection& connection, const std::function<void(const std::string& problem)>& report);

}  // namespace infimum
