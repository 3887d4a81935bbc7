#include "src/ingest/chakra_workload.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "infimum/base/text.h"

namespace infimum::ingest {
namespace {

// "aten::mm(1)" is the second piece of "aten::mm"; an operator that was not cut has no number.
struct Piece {
  std::string_view op;
  std::optional<std::int64_t> number;
};

Piece PieceOf(std::string_view name) {
  const std::size_t open = name.rfind('(');
  if (open == std::string_view::npos || open == 0 || !name.ends_with(')')) return {name, std::nullopt};
  const std::optional<std::int64_t> number = ParseInteger(name.substr(open + 1, name.size() - open - 2));
  if (!number || *number < 0 || *number > INT32_MAX) return {name, std::nullopt};
  return {name.substr(0, open), number};
}

struct Operator {
  ProfiledLayer layer;
  double host_us = 0;
  double kernels_us = 0;
  std::map<std::string, double> kernels;
};

class WorkloadReader {
 public:
  Status Take(const Json& node) {
    if (!node.is_object()) return Error{"not an object"};
    INFIMUM_ASSIGN_OR_RETURN(const std::int64_t id, IntegerField(node, "Id", 0, INT64_MAX, -1));
    if (id < 0) return Error{"'Id' is missing"};
    INFIMUM_ASSIGN_OR_RETURN(const std::string name, TextField(node, "Name"));
    constexpr std::int64_t kYear = 31'536'000'000'000;
    // What took no microsecond has no "runtime".
    INFIMUM_ASSIGN_OR_RETURN(const std::int64_t duration, IntegerField(node, "runtime", 0, kYear, 0));
    const auto on_host = node.find("is_cpu_op");
    if (on_host == node.end() || !on_host->is_boolean()) return Error{"'is_cpu_op' is not true or false"};
    if (on_host->get<bool>()) return TakeOperator(id, name, static_cast<double>(duration));
    return TakeKernel(node, name, static_cast<double>(duration));
  }

  RunProfile Finish() && {
    JoinKernels();
    RunProfile run;
    std::size_t without_kernels = 0;
    for (Operator& one : operators_) {
      for (const auto& [name, time] : one.kernels)
        if (one.layer.algorithm.empty() || time > one.kernels.at(one.layer.algorithm)) one.layer.algorithm = name;
      if (!kernels_.empty() && one.kernels.empty()) ++without_kernels;
      one.layer.samples = {Latency(!kernels_.empty() ? one.kernels_us : one.host_us)};
      if (one.layer.op.starts_with("aten::")) run.framework = "pytorch";
      run.layers.push_back(std::move(one.layer));
    }
    if (run.framework.empty()) run.framework = "chakra";
    run.warnings.push_back(
        "A Chakra graph has durations and no starts: gaps, and what ran at once, are not in it; the trace of PyTorch's "
        "profiler of the same run has them");
    if (kernels_.empty()) run.warnings.push_back("It shows no kernel: the layers' times are the host's");
    if (without_kernels > 0) {
      run.warnings.push_back(fmt::format("{} of {} operators started no kernel and count as 0 us on the device",
                                         without_kernels, run.layers.size()));
    }
    if (strays_ > 0) {
      run.warnings.push_back(
          fmt::format("{} of {} kernels ({:.0f} us) belong to no operator", strays_, kernels_.size(), stray_us_));
    }
    return run;
  }

 private:
  Status TakeOperator(std::int64_t id, const std::string& name, double duration) {
    const Piece piece = PieceOf(name);
    std::size_t index = operators_.size();
    const std::string op(piece.op);
    if (const auto open = open_.find(op);
        piece.number && *piece.number > 0 && open != open_.end() && open->second.next_piece == *piece.number) {
      index = open->second.index;
      ++open->second.next_piece;
    } else {
      Operator added;
      added.layer.name = fmt::format("{}#{}", op, id);
      added.layer.op = op;
      operators_.push_back(std::move(added));
      if (piece.number) open_[op] = {index, *piece.number + 1};
    }
    operators_[index].host_us += duration;
    if (!operator_of_.emplace(id, index).second) return Error{fmt::format("'Id' {} is there twice", id)};
    return {};
  }

  Status TakeKernel(const Json& node, std::string name, double duration) {
    Kernel kernel{std::nullopt, std::move(name), duration};
    const auto waits_for = node.find("data_deps");
    if (waits_for != node.end() && !waits_for->is_array()) return Error{"'data_deps' is not a list"};
    if (waits_for != node.end() && !waits_for->empty() && waits_for->front().is_number_integer())
      kernel.waits_for = waits_for->front().get<std::int64_t>();
    kernels_.push_back(std::move(kernel));
    return {};
  }

  // A kernel's operator is the first node that it waits for, which may stand behind it.
  void JoinKernels() {
    for (const Kernel& kernel : kernels_) {
      const auto found = kernel.waits_for ? operator_of_.find(*kernel.waits_for) : operator_of_.end();
      if (found == operator_of_.end()) {
        ++strays_;
        stray_us_ += kernel.duration;
        continue;
      }
      Operator& by = operators_[found->second];
      by.kernels_us += kernel.duration;
      by.kernels[kernel.name] += kernel.duration;
    }
  }

  struct Open {
    std::size_t index = 0;
    std::int64_t next_piece = 0;
  };
  struct Kernel {
    std::optional<std::int64_t> waits_for;
    std::string name;
    double duration = 0;
  };

  std::vector<Operator> operators_;
  std::unordered_map<std::int64_t, std::size_t> operator_of_;  // by number of a piece
  std::unordered_map<std::string, Open> open_;                 // the last of each name
  std::vector<Kernel> kernels_;
  std::size_t strays_ = 0;
  double stray_us_ = 0;
};

}  // namespace

Result<RunProfile> ReadChakraWorkload(const Json& document) {
  const auto nodes = document.find("workload_graph");
  if (nodes == document.end() || !nodes->is_array()) return Error{"'workload_graph' is not a list"};
  if (nodes->empty()) return Error{"'workload_graph' is empty"};
  WorkloadReader reader;
  std::size_t position = 0;
  for (const Json& node : *nodes) {
    ++position;
    const Status taken = reader.Take(node);
    if (!taken) return Within(fmt::format("node {} of 'workload_graph'", position), taken.error());
  }
  RunProfile run = std::move(reader).Finish();
  if (run.layers.empty()) return Error{"'workload_graph' has no operator of a host ('is_cpu_op')"};
  INFIMUM_ASSIGN_OR_RETURN(run.model_name, TextField(document, "workload_name"));
  for (const char* setting : {"ngpus", "soc"}) {
    const auto found = document.find(setting);
    if (found == document.end()) continue;
    if (found->is_string()) run.settings[setting] = found->get<std::string>();
    if (found->is_number_integer()) run.settings[setting] = found->dump();
  }
  return run;
}

}  // namespace infimum::ingest
