#include "src/core/results/replay_schedule_text.h"

#include "src/core/results/record_json.h"

namespace infimum {
namespace {

constexpr std::string_view kScheduleSchema = "infimum.replay-schedule/1";
constexpr double kLargestValue = 1e300;

}  // namespace

template <>
inline constexpr ReplayTensorKind kLastEnumerator<ReplayTensorKind> = ReplayTensorKind::kIntermediate;

template <>
struct JsonForm<Workload> {
  static std::string Write(const Workload& workload) { return Format(workload); }
  static Status Read(const std::string& text, Workload& workload) {
    INFIMUM_ASSIGN_OR_RETURN(workload, ParseWorkload(text));
    return {};
  }
};

static void VisitFields(auto& visit, Like<ReplayTensor> auto& tensor) {
  visit("name", tensor.name);
  visit("kind", tensor.kind);
  visit("dtype", tensor.type);
  visit("shape", tensor.shape.dims, {0, static_cast<double>(kMaxElements)});
  visit("output", tensor.is_output);
  visit("fill", tensor.fill, {-kLargestValue, kLargestValue});
}

static void VisitFields(auto& visit, Like<ReplayLevel> auto& level) {
  visit("factor", level.factor);
  visit("level", level.level);
}

static void VisitFields(auto& visit, Like<ReplayStep> auto& step) {
  visit("name", step.name);
  visit("layers", step.layers);
  visit("workload", step.workload);
  visit("candidate", step.candidate.name);
  visit("operands", step.operands);
  visit("outputs", step.outputs);
  visit("values", step.values, {-kLargestValue, kLargestValue});
  visit.Sparse("input_layout", step.candidate.input_layout);
  visit.Sparse("output_layout", step.candidate.output_layout);
  visit.Sparse("value_tensors", step.value_tensors);
  visit("runs_at", step.level);
}

static void VisitFields(auto& visit, Like<ReplaySchedule> auto& schedule) {
  visit("model", schedule.model);
  visit("tensors", schedule.tensors);
  visit("steps", schedule.steps);
  visit.Sparse("contract", schedule.contract);
  visit.Sparse("factors", schedule.factors);
  visit.Sparse("design", schedule.design);
}

std::string FormatReplaySchedule(const ReplaySchedule& schedule) { return FormatDocument(kScheduleSchema, schedule); }

Result<ReplaySchedule> ParseReplaySchedule(std::string_view text) {
  INFIMUM_ASSIGN_OR_RETURN(ReplaySchedule schedule, ParseDocument<ReplaySchedule>(text, kScheduleSchema));
  INFIMUM_RETURN_IF_ERROR(Validate(schedule));
  return schedule;
}

}  // namespace infimum
