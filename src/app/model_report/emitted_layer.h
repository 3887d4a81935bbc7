// The stand-alone source of one layer or region, as `infimum emit --layer TEXT` would write it.
//
//   EmitLayer("convolution ...", {"onednn/brgconv:avx512_core"}, std::nullopt)
//     ->  library "onednn", file "onednn_convolution_f32_....cc", its text
//         command "infimum emit --layer 'convolution ...' -o onednn_convolution_f32_..."
#pragma once

#include <optional>
#include <span>
#include <string>

#include "infimum/base/result.h"
#include "infimum/measurement/contract.h"

namespace infimum {

struct EmittedLayer {
  std::string library;
  std::string file_name;
  std::string text;
  // Writes the whole project, into `folder` where it is given, else into one named like the file.
  std::string CommandInto(std::string folder = {}) const;

  std::string workload;
  std::optional<NumericContract> contract;
};

// By the library of the first candidate that has sources; `candidates` are names, the best first. The error says why
// there is no source.
Result<EmittedLayer> EmitLayer(const std::string& workload, std::span<const std::string> candidates,
                               std::optional<NumericContract> contract);

}  // namespace infimum
