// The names that "scope", the benchmark program of 2019, gave its entries:
//
//   LAYER_<API>[_<shard>]_<TYPE>__BatchSize_<n>__<id>[<MODE[, MODE]>]/argument:value/.../manual_time
//
//   LAYER_CUDNN_POOLING_FWD_FLOAT32__BatchSize_1__42<CUDNN_POOLING_MAX>/input[0]:1/input[1]:64/.../manual_time
//     ->  api CUDNN_POOLING_FWD, type FLOAT32, modes {CUDNN_POOLING_MAX}, arguments {input[0]: 1, input[1]: 64, ...}
//
// The shard (a digit) and the id are random and mean nothing.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "infimum/base/result.h"

namespace infimum::ingest {

struct ScopeName {
  std::string api;
  std::string type;
  std::vector<std::string> modes;
  std::map<std::string, std::int64_t, std::less<>> arguments;
};

bool IsScopeName(std::string_view name);

// Errors say what was expected at which column (from 1).
Result<ScopeName> ParseScopeName(std::string_view name);

}  // namespace infimum::ingest
