// The engine on which oneDNN Graph compiles and runs, with the memory that it asks for.
//
// Its kernels ask for scratch memory in each run. From malloc that would be fresh pages each time where it is large,
// which an engine that keeps its memory does not pay: here a block is given back to a pool, and handed out again for
// the next request of its size.
#pragma once

#include <cstddef>
#include <vector>

#include "microbench/libraries/onednn/program/onednn_types.h"
#include "oneapi/dnnl/dnnl_graph.hpp"

namespace infimum::cpu {

// The process's one engine of the graph API. Constants are packed once and kept as long as the program that reads them;
// a partition that is compiled twice is two programs, each with constants of its own.
const dnnl::engine& GraphEngine();

// The partition for tensors of these types, shapes and strides. Throws dnnl::error where the library has no kernel for
// it (dnnl_unimplemented: f16 on a processor that does not compute in it). As dnnl::graph::partition::compile, which
// leaks what it made when it throws (seen in 3.2).
dnnl::graph::compiled_partition Compiled(const dnnl::graph::partition& partition,
                                         const std::vector<dnnl::graph::logical_tensor>& inputs,
                                         const std::vector<dnnl::graph::logical_tensor>& outputs);

// How many blocks the library holds: between runs these are constants that it packed.
std::size_t GraphBlocksInUse();

// Frees what the library has given back. For when a program ends: another will ask for other sizes.
void ReleaseGraphMemory();

}  // namespace infimum::cpu
