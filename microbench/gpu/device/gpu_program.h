// One candidate of a workload as something that a GPU can be given: what it wants of memory, and what it puts into a
// stream.
//
//   INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<GpuProgram> program, offer.make(gpu));
//   for (const GpuBinding& tensor : program->bindings()) ...   // in0 1x64x56x56 channels last, w0 ..., %0 ...
//   program->Bind(addresses, workspace);
//   program->Enqueue(gpu.stream());
//
// Every workload is seen as a region here (region_tensors.h, RegionOf): a layer's operands are in0, in1 ...
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "infimum/layer/region.h"
#include "infimum/measurement/candidate.h"
#include "microbench/gpu/device/gpu.h"
#include "microbench/gpu/device/tensor_placement.h"

namespace infimum::cuda {

struct GpuBinding {
  // An operand from outside, or a member's result (whose `output` is then written).
  RegionOperand tensor;
  std::size_t output = 0;  // of a member with several results
  DataType type = DataType::kF32;
  TensorPlacement placement;
  Bytes rewritten = {};  // of a constant that Prepare() puts another form of in its place: what that has; 0: none

  bool is_written() const { return tensor.source == RegionOperand::Source::kMember; }
};

class GpuProgram {
 public:
  explicit GpuProgram(std::vector<GpuBinding> bindings = {}) : bindings_(std::move(bindings)) {}
  virtual ~GpuProgram() = default;

  const std::vector<GpuBinding>& bindings() const { return bindings_; }
  virtual Bytes workspace() const { return {}; }  // scratch memory that Bind() wants

  // Addresses in the order of bindings(); may be called again with others, and costs little then.
  virtual Status Bind(const std::vector<void*>& addresses, void* workspace) {
    addresses_ = addresses;
    workspace_ = workspace;
    return {};
  }

  // Constants are as they will stay; called once after their first Bind(), outside of all timing.
  virtual Status Prepare() { return {}; }

  // One execution into the stream: never waits, never allocates.
  virtual Status Enqueue(Gpu::Stream stream) = 0;

 protected:
  std::vector<GpuBinding> bindings_;
  // As last bound.
  std::vector<void*> addresses_;
  void* workspace_ = nullptr;
};

struct GpuOffer {
  Candidate candidate;
  std::function<Result<std::unique_ptr<GpuProgram>>(Gpu&)> make;
};

// In place of a library's candidates, which it failed to list: a row that says why.
inline GpuOffer FailedOffer(std::string_view library, const Error& error) {
  const auto fail = [error](Gpu&) -> Result<std::unique_ptr<GpuProgram>> { return error; };
  return {{std::string(library), "any", "any", "any", false}, fail};
}

}  // namespace infimum::cuda
