// What a store holds, counted.
#pragma once

#include "db/connection/sql_connection.h"
#include "infimum/db/store.h"

namespace infimum {

Result<StoreFacts> ReadFacts(Connection& connection);

}  // namespace infimum
