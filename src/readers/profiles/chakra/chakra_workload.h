// Chakra's graph of a workload: operators in the pieces that lie between the kernels they start.
//
//   aten::mm(0) -> kernel -> aten::mm(1)     one layer "aten::mm", its sample the kernel's time
//
//   ChakraWorkload workload(oddities);
//   workload.Read(event), workload.Take();   // each of "workload_graph"
//   std::move(workload).Finish(frame.top);
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "infimum/base/result.h"
#include "infimum/graph/run_profile.h"
#include "src/core/graph/name_table.h"
#include "src/readers/files/json_fields.h"
#include "src/readers/profiles/events/event_field.h"
#include "src/readers/profiles/events/trace_events.h"

namespace infimum::ingest {

class ChakraWorkload {
 public:
  explicit ChakraWorkload(Oddities& oddities) : oddities_(oddities) {}

  simdjson::error_code Read(TraceEvent& event);
  Status Take();
  // With what stands beside the graph.
  Result<RunProfile> Finish(const Json& top) &&;

 private:
  // Small, since a graph has millions: what a layer's texts are made of.
  struct Operator {
    std::int64_t id = 0;  // of its first piece
    double host_us = 0;
    double kernels_us = 0;
    NameId op = kNoName;
    NameId longest_kernel = kNoName;
    bool has_kernels = false;
  };
  struct Kernel {
    double duration = 0;
    NameId name = kNoName;
  };
  // A kernel that stands before the operator that it waits for.
  struct EarlyKernel {
    std::int64_t waits_for = 0;
    Kernel kernel;
  };
  // The last operator of a name, and the number that its next piece has.
  struct Open {
    std::uint32_t index = 0;
    std::int64_t next_piece = 0;
  };

  Status TakeOperator(std::int64_t id, std::string_view name, double duration);
  Status TakeKernel(std::string_view name, double duration);
  bool Join(std::int64_t waits_for, const Kernel& kernel);
  void AddStray(const Kernel& kernel);
  void FindLongestKernels();
  ProfiledLayer LayerOf(const Operator& one) const;

  Oddities& oddities_;
  EventField id_{"Id", oddities_}, name_{"Name", oddities_}, duration_{"runtime", oddities_},
      on_host_{"is_cpu_op", oddities_}, waits_for_{"data_deps", oddities_};
  const FieldSet fields_ = {&id_, &name_, &duration_, &on_host_, &waits_for_};

  NameTable names_;
  std::deque<Operator> operators_;
  std::unordered_map<std::int64_t, std::uint32_t> operator_of_;  // by number of a piece
  std::unordered_map<NameId, Open> open_;
  std::unordered_map<std::uint64_t, double> kernels_us_;  // by operator and name
  std::deque<EarlyKernel> early_kernels_;
  std::size_t kernels_ = 0;
  std::size_t strays_ = 0;
  double stray_us_ = 0;
  double kernels_total_us_ = 0;
};

}  // namespace infimum::ingest
