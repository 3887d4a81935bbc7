// Going through all rows that a selection names: for exports and merges.
#pragma once

#include <functional>

#include "db/connection/sql_connection.h"
#include "infimum/db/store.h"

namespace infimum {

// By campaign, device, environment and evidence, a page at a time, so that memory does not grow with the store and
// another connection may write meanwhile: what it adds may or may not be seen, what was there before is.
Status VisitStoredRows(Connection& connection, const RowSelection& selection,
                       const std::function<Status(const RowBatch&)>& take);

}  // namespace infimum
