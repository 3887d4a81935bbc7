// What was published of the measurements of 2019, as the tests read it: the layers of each model, the times of their
// benchmarks on each GPU, and the totals that the tool of 2019 made of them.
//
//   layer_stats/ResNet050-v1.json          resnetv17_conv0_fwd: Conv, reads data, makes resnetv17_conv0_fwd
//   latency/.../Tesla_T4/ResNet050-v1.csv  resnetv17_conv0_fwd,Conv,CONV_FWD_...,0.121212,236027904
//                                          ...
//                                          ,,Total,9.170000,9672761320
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "analyzer/benanza2019/benanza_rules.h"
#include "infimum/layer/shape.h"

namespace infimum::testing {

// The cells of each line; quotes as RFC 4180 has them. Empty where the file cannot be read.
std::vector<std::vector<std::string>> ReadCsv(const std::filesystem::path& file);

// The lines after the first, by its titles.
std::vector<std::map<std::string, std::string>> ReadTable(const std::filesystem::path& file);

struct PublishedLayer {
  std::string name;  // a layer with two outputs stands there twice
  BenanzaLayer layer;
  std::vector<Shape> input_shapes;  // for a batch of 1
  Shape output_shape;
};
// In order of execution, without constants; none of them has a time. Empty where the file is not understood.
std::vector<PublishedLayer> ReadLayerStats(const std::filesystem::path& file);

struct PublishedRow {
  std::string layer;
  bool bias = false;   // of a convolution's bias
  bool fused = false;  // of convolution and bias in one call
  Latency time{0};
};
struct PublishedTotal {
  std::vector<PublishedRow> rows;
  Latency total{-1};  // negative where there is none
};
PublishedTotal ReadLatencyCsv(const std::filesystem::path& file);

// The layers with their rows' times; of a name that stands twice the first row is the first layer's. `unused` counts
// the rows that no layer has a place for.
std::vector<BenanzaLayer> WithTimes(const std::vector<PublishedLayer>& layers, const std::vector<PublishedRow>& rows,
                                    int& unused);

}  // namespace infimum::testing
