// Models and their layers in the store.
#pragma once

#include <functional>
#include <span>

#include "db/connection/sql_connection.h"
#include "db/store/stored_model.h"

namespace infimum {

// In a transaction that the caller ends. How many were not there yet: a model that was read differently (by a version
// that knows more operators) is another one, the newest of a file is the one that queries see.
Result<std::int64_t> SaveModels(Connection& connection, std::span<const StoredModel> models);

// All of them, also those that a newer reading replaced, in order of import.
Status ReadModels(Connection& connection, const std::function<Status(const StoredModel&)>& take);

}  // namespace infimum
