#include "src/readers/profiles/chakra/chakra_workload.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "infimum/base/quantity_text.h"
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

// "[3, 1]" -> 3
std::optional<std::int64_t> FirstOf(std::string_view list) {
  if (!list.empty()) list.remove_prefix(1);
  return ParseInteger(TrimSpace(list.substr(0, list.find_first_of(",]"))));
}

}  // namespace

simdjson::error_code ChakraWorkload::Read(TraceEvent& event) {
  fields_.Clear();
  return ReadFields(event.object, fields_);
}

Status ChakraWorkload::Take() {
  INFIMUM_ASSIGN_OR_RETURN(const std::int64_t id, id_.NeededInteger(0, INT64_MAX));
  const std::string_view name = name_.Text();
  if (on_host_.token() != "true" && on_host_.token() != "false") return Error{"'is_cpu_op' is not true or false"};
  const bool on_host = on_host_.token() == "true";
  // What took no microsecond has no "runtime".
  const Result<std::int64_t> nanoseconds = duration_.absent() ? Result(std::int64_t{0}) : duration_.NeededNanoseconds();
  if (!nanoseconds.ok()) {
    if (!on_host) oddities_.Lose(std::nullopt);
    return nanoseconds.error();
  }
  const double duration = static_cast<double>(*nanoseconds) / 1000;
  return on_host ? TakeOperator(id, name, duration) : TakeKernel(name, duration);
}

Status ChakraWorkload::TakeOperator(std::int64_t id, std::string_view name, double duration) {
  if (operators_.size() >= UINT32_MAX) return Error{"more than 4,294,967,294 operators"};
  auto index = static_cast<std::uint32_t>(operators_.size());
  const auto [of_id, is_new] = operator_of_.emplace(id, index);
  if (!is_new) return Error{fmt::format("'Id' {} is there twice", id)};
  const Piece piece = PieceOf(name);
  const NameId op = names_.Intern(piece.op);
  if (const auto open = open_.find(op);
      piece.number && *piece.number > 0 && open != open_.end() && open->second.next_piece == *piece.number) {
    index = open->second.index;
    ++open->second.next_piece;
    of_id->second = index;
  } else {
    Operator added;
    added.id = id;
    added.op = op;
    operators_.push_back(added);
    if (piece.number) open_[op] = {index, *piece.number + 1};
  }
  operators_[index].host_us += duration;
  return {};
}

// A kernel's operator is the first node that it waits for.
Status ChakraWorkload::TakeKernel(std::string_view name, double duration) {
  if (!waits_for_.absent() && !waits_for_.is_list()) oddities_.Note([] { return Error{"'data_deps' is not a list"}; });
  ++kernels_;
  kernels_total_us_ += duration;
  const Kernel kernel{duration, names_.Intern(name)};
  const std::optional<std::int64_t> waits_for = FirstOf(waits_for_.token());
  if (!waits_for) {
    AddStray(kernel);
  } else if (!Join(*waits_for, kernel)) {
    early_kernels_.push_back({*waits_for, kernel});
  }
  return {};
}

bool ChakraWorkload::Join(std::int64_t waits_for, const Kernel& kernel) {
  const auto found = operator_of_.find(waits_for);
  if (found == operator_of_.end()) return false;
  Operator& by = operators_[found->second];
  by.has_kernels = true;
  by.kernels_us += kernel.duration;
  kernels_us_[std::uint64_t{found->second} << 32 | static_cast<std::uint64_t>(kernel.name)] += kernel.duration;
  return true;
}

void ChakraWorkload::AddStray(const Kernel& kernel) {
  ++strays_;
  stray_us_ += kernel.duration;
}

// Of kernels of one operator that took as long the first by name.
void ChakraWorkload::FindLongestKernels() {
  std::vector<double> longest(operators_.size(), 0);
  for (const auto& [key, time] : kernels_us_) {
    const std::size_t index = key >> 32;
    const auto name = static_cast<NameId>(key & 0xffffffff);
    NameId& best = operators_[index].longest_kernel;
    if (best != kNoName && (time < longest[index] || (time == longest[index] && names_.text(name) > names_.text(best))))
      continue;
    best = name;
    longest[index] = time;
  }
}

ProfiledLayer ChakraWorkload::LayerOf(const Operator& one) const {
  ProfiledLayer layer;
  layer.op = names_.text(one.op);
  layer.name = fmt::format("{}#{}", layer.op, one.id);
  layer.algorithm = names_.text(one.longest_kernel);
  layer.samples = {Latency(kernels_ > 0 ? one.kernels_us : one.host_us)};
  return layer;
}

Result<RunProfile> ChakraWorkload::Finish(const Json& top) && {
  if (operators_.empty() && kernels_ == 0) return Error{"'workload_graph' is empty"};
  if (operators_.empty()) return Error{"'workload_graph' has no operator of a host ('is_cpu_op')"};
  for (const EarlyKernel& early : early_kernels_)
    if (!Join(early.waits_for, early.kernel)) AddStray(early.kernel);
  FindLongestKernels();
  // The layers need the room.
  early_kernels_ = {};
  kernels_us_ = {};
  operator_of_ = {};
  RunProfile run;
  run.skipped_share = oddities_.ShareLost(static_cast<std::int64_t>(kernels_), 1000 * kernels_total_us_);
  run.layers.reserve(operators_.size());
  std::size_t without_kernels = 0;
  for (const Operator& one : operators_) {
    if (kernels_ > 0 && !one.has_kernels) ++without_kernels;
    run.layers.push_back(LayerOf(one));
    if (run.layers.back().op.starts_with("aten::")) run.framework = "pytorch";
  }
  if (run.framework.empty()) run.framework = "chakra";
  run.warnings.push_back(
      "A Chakra graph has durations and no starts: gaps, and what ran at once, are not in it; the trace of PyTorch's "
      "profiler of the same run has them");
  if (kernels_ == 0) run.warnings.push_back("It shows no kernel: the layers' times are the host's");
  if (without_kernels > 0) {
    run.warnings.push_back(fmt::format("{} of {} operators started no kernel and count as 0 µs on the device",
                                       without_kernels, run.layers.size()));
  }
  if (strays_ > 0) {
    run.warnings.push_back(fmt::format("{} of {} kernels ({}) belong to no operator", strays_, kernels_,
                                       FormatLatency(Latency(stray_us_))));
  }
  INFIMUM_ASSIGN_OR_RETURN(run.model_name, TextField(top, "workload_name"));
  for (const char* setting : {"ngpus", "soc"}) {
    const auto found = top.find(setting);
    if (found == top.end()) continue;
    if (found->is_string()) run.settings[setting] = found->get<std::string>();
    if (found->is_number_integer()) run.settings[setting] = found->dump();
  }
  return run;
}

}  // namespace infimum::ingest
