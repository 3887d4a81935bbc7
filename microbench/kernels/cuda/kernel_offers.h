// Which kernels of ours can run a layer or a region, and the calls that do.
//
//   for (const KernelOffer& offer : KernelsFor(config)) {
//     offer.algorithm == "transpose:tile32"            the candidate infimum/transpose:tile32
//     KernelBuffers buffers{{x}, {y}, scratch};        scratch of offer.scratch_bytes
//     for (const KernelCall& call : offer.make(buffers)) gpu.Launch(call, stream);
//   }
//
// The calls are made once and launched many times; they hold the pointers. Which widths of loads are possible depends
// on addresses: all buffers should be aligned to 256 bytes, as cudaMalloc's are. Where two variants are the same for a
// layer one of them is offered. No CUDA headers and no device are needed.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "infimum/layer/element_order.h"
#include "infimum/layer/layer_config.h"
#include "infimum/layer/region.h"
#include "microbench/kernels/cuda/kernel_call.h"
#include "microbench/reference/values.h"

namespace infimum::cuda {

// Device memory of one layer or region, without gaps; row-major, or with the channels last where the offer says so.
struct KernelBuffers {
  std::vector<const void*> operands;  // a layer's as OperandsOf(config); a region's in0, in1 ..., then w0, w1 ...
  std::vector<void*> outputs;         // a layer's as OutputsOf(config); a region's as its `outputs`
  void* scratch = nullptr;
};

struct KernelOffer {
  std::string algorithm;
  std::int64_t scratch_bytes = 0;
  std::function<std::vector<KernelCall>(const KernelBuffers&)> make;
  bool channels_last = false;  // how operands and results lie
};

// Empty where no kernel has the layer's kind, types, values or size (2^31 elements where positions must be computed;
// plain copies and element-wise layers without broadcasts have no limit). A reorder's tensors lie as its `from` and
// `to` say.
std::vector<KernelOffer> KernelsFor(const LayerConfig& config, const cpu::LayerValues& values = {});

// Regions of element-wise members, also before a softmax or normalization of the last result, and quantization in
// blocks, as one kernel. `values` are the members', or empty.
std::vector<KernelOffer> KernelsFor(const Region& region, const std::vector<cpu::LayerValues>& values = {});

// What makes numbers of a product's stored weights, for a library's product behind it: from the weights, their scales
// and zero points to b, row-major, in the type of a. nullopt where the weights are no constants of 4 or 8 bits with
// scales by blocks of a column, and where the result has another type than a.
std::optional<KernelOffer> DequantizationOf(const MatMulConfig& config);

// Of a region that quantizes in blocks: their largest numbers, scales from these, and numbers divided by their scales.
std::vector<KernelOffer> BlockQuantizeOffers(const Region& region, const std::vector<cpu::LayerValues>& values);

// A copy from one order of a tensor's elements to another.
std::vector<KernelOffer> KernelsForReorder(DataType type, const CommonDimensions& orders);

}  // namespace infimum::cuda
