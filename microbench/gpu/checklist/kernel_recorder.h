// What CUPTI, NVIDIA's own profiler, says of each kernel that ran: the times that ours are held against.
//
//   INFIMUM_ASSIGN_OR_RETURN(std::unique_ptr<KernelRecorder> recorder, KernelRecorder::Start());
//   run->Run();
//   for (const KernelRecord& kernel : *recorder->Stop()) ...   // {"sm90_xmma_fprop_...", 61.4 us}
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "infimum/base/result.h"
#include "infimum/base/units.h"

namespace infimum::cuda {

struct KernelRecord {
  std::string name;
  Latency duration{0};
};

class KernelRecorder {
 public:
  // One at a time in a process. An error where libcupti is missing or not allowed to look.
  static Result<std::unique_ptr<KernelRecorder>> Start();
  ~KernelRecorder();

  // All kernels since the start, in the order in which CUPTI hands them over. Waits for none: the device is done.
  Result<std::vector<KernelRecord>> Stop();

 private:
  struct Functions;
  explicit KernelRecorder(std::unique_ptr<Functions> functions);

  std::unique_ptr<Functions> functions_;
};

}  // namespace infimum::cuda
