// Short names of a comparison's sides for the heads of its columns: what all of them have in common is left out.
//
//   "resnet50 f32 batch 1 onnxruntime 1.31.1 cpu", "resnet50 f32 batch 1 tensorrt 10.3 gpu"
//   -> "onnxruntime 1.31.1 cpu", "tensorrt 10.3 gpu"
//   "resnet50.run.json", "resnet50-f16.run.json" -> "resnet50", "resnet50-f16": of none is nothing left
//   "Tesla K80", "TITAN V" -> as they are: they fit
#pragma once

#include <string>
#include <vector>

namespace infimum {

// One for each label, no two the same; the labels themselves where all are short, or where nothing is common to them.
std::vector<std::string> ShortSideLabels(const std::vector<std::string>& labels);

}  // namespace infimum
