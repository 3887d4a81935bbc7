// How many threads ONNX Runtime's nodes may use, by what each of them tells of its thread pool.
//
//   ""                                                                            1: there is no pool
//   {"main_thread":{"thread_pool_name":"session-1-intra-op",...},
//    "sub_threads":{"140472798402240":{"num_run":0,"core":-1}}}                   2: the caller works as well
#pragma once

#include <simdjson.h>

#include <cstdint>
#include <optional>

namespace infimum::ingest {

// Nothing where it is neither of these. A pool is made for two threads or more, and lists also those that had nothing
// to do (onnxruntime/core/common/threadpool.cc).
simdjson::error_code OnnxRuntimeThreads(simdjson::ondemand::value& statistics, std::optional<std::int64_t>& threads);

}  // namespace infimum::ingest
