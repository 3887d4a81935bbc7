// Google Benchmark JSON of programs other than infimum's runners: the layers that "scope" timed in 2019 with cuDNN 7
// and cuBLAS 10 (the data behind the Benanza paper), and whatever carries a workload of ours as its label or name.
//
//   {"context": {"date": "2019-10-06 14:50:20", "executable": "./scope", ...}, "benchmarks": [
//     {"name": "LAYER_CUDNN_ACTIVATION_FWD_FLOAT32__BatchSize_1__42<CUDNN_ACTIVATION_RELU>/input[0]:1/input[1]:64/
//               input[2]:56/input[3]:56/input[4]:-1/.../batch_size:1/manual_time",
//      "iterations": 82858, "real_time": 8420.4, "time_unit": "ns", "x_tensor_layout": 0.0,
//      "gpu_name:Tesla T4": 1.4e18, "compute_capability:7.5": 3.8e18, "cudnn_version:7.6.3": 1.6e19, ...}, ...]}
//
// gives the row
//   pointwise kind=relu dtype=f32:-:f32 in=200704   cudnn-legacy/activation/relu, nchw   8.42 us on Tesla T4
//
// and of another program
//     {"name": "pointwise kind=relu dtype=f32:-:f32 in=200704/vectorised/real_time", ...} of "./my_bench" the candidate
//   my_bench/vectorised.
//
// Which API became which layer and what could not be expressed is in README.md; of the latter
// ResultsTaker::remark gets it.
#pragma once

#include <iosfwd>
#include <string_view>

#include "infimum/base/result.h"
#include "src/readers/benchmarks/results_taker.h"

namespace infimum {

// The stream is read twice, so it must be seekable: first all of it is checked and the device is looked for (failed
// entries do not name their device), then rows are handed on. A file with an error hands on nothing. Memory is
// bounded whatever the file's size: entries more than 20,000 others apart are not joined to one row.
// `origin` is named in errors ("128.json:352: benchmarks[11] 'LAYER_...': ...").
Status ReadScopeBenchmarks(std::istream& input, std::string_view origin, const ResultsTaker& taker);

}  // namespace infimum
