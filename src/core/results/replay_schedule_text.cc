#include "src/core/results/replay_schedule_text.h"

#include "infimum/base/text.h"
#include "src/core/results/json_fields.h"

namespace infimum {
namespace {

constexpr std::string_view kScheduleSchema = "infimum.replay-schedule/1";
constexpr std::int64_t kLargestDimension = kMaxElements;
constexpr double kLargestValue = 1e300;

std::string Place(const char* list, std::size_t index) { return std::string(list) + "[" + std::to_string(index) + "]"; }

Result<std::vector<std::size_t>> IndicesField(const Json& object, std::string_view name) {
  INFIMUM_ASSIGN_OR_RETURN(const Json* const list, ArrayField(object, name));
  std::vector<std::size_t> indices;
  for (const Json& item : *list) {
    if (!item.is_number_unsigned()) return Error{"'" + std::string(name) + "' holds what is no index"};
    indices.push_back(item.get<std::size_t>());
  }
  return indices;
}

Result<Shape> ShapeField(const Json& object) {
  INFIMUM_ASSIGN_OR_RETURN(const Json* const list, ArrayField(object, "shape"));
  Shape shape;
  for (const Json& item : *list) {
    INFIMUM_ASSIGN_OR_RETURN(const double extent, NumberOf(item, "shape", 0, static_cast<double>(kLargestDimension)));
    shape.dims.push_back(static_cast<std::int64_t>(extent));
  }
  return shape;
}

Result<ReplayTensor> TensorFrom(const Json& object) {
  ReplayTensor tensor;
  INFIMUM_ASSIGN_OR_RETURN(tensor.name, TextField(object, "name"));
  INFIMUM_ASSIGN_OR_RETURN(const std::string kind, TextField(object, "kind"));
  bool known = false;
  for (const ReplayTensorKind one :
       {ReplayTensorKind::kInput, ReplayTensorKind::kWeight, ReplayTensorKind::kIntermediate}) {
    if (kind != Name(one)) continue;
    tensor.kind = one;
    known = true;
  }
  if (!known) return Error{"'kind' is " + Quoted(kind) + ", expected input, weight or intermediate"};
  INFIMUM_ASSIGN_OR_RETURN(const std::string type, TextField(object, "dtype"));
  const std::optional<DataType> found = FindDataType(type);
  if (!found) return Error{"'dtype' is " + Quoted(type) + ", which is no type"};
  tensor.type = *found;
  INFIMUM_ASSIGN_OR_RETURN(tensor.shape, ShapeField(object));
  INFIMUM_ASSIGN_OR_RETURN(tensor.is_output, TruthField(object, "output"));
  if (const auto fill = object.find("fill"); fill != object.end()) {
    INFIMUM_ASSIGN_OR_RETURN(tensor.fill, NumberOf(*fill, "fill", -kLargestValue, kLargestValue));
  }
  return tensor;
}

Result<ReplayValues> ValuesFrom(const Json& object) {
  if (!object.is_object()) return Error{"'values' holds what is no object"};
  ReplayValues values;
  for (const auto& [name, list] : object.items()) {
    if (!list.is_array()) return Error{"value " + Quoted(name) + " is no list"};
    std::vector<double>& numbers = values[name];
    for (const Json& item : list) {
      INFIMUM_ASSIGN_OR_RETURN(const double number, NumberOf(item, name, -kLargestValue, kLargestValue));
      numbers.push_back(number);
    }
  }
  return values;
}

Result<ReplayValueTensors> ValueTensorsFrom(const Json& object) {
  if (!object.is_object()) return Error{"'value_tensors' holds what is no object"};
  ReplayValueTensors tensors;
  for (const auto& [name, index] : object.items()) {
    if (!index.is_number_unsigned()) return Error{"value " + Quoted(name) + " is in what is no tensor's index"};
    tensors[name] = index.get<std::size_t>();
  }
  return tensors;
}

Result<ReplayStep> StepFrom(const Json& object) {
  ReplayStep step;
  INFIMUM_ASSIGN_OR_RETURN(step.name, TextField(object, "name"));
  INFIMUM_ASSIGN_OR_RETURN(step.layers, TextListField(object, "layers"));
  INFIMUM_ASSIGN_OR_RETURN(const std::string workload, TextField(object, "workload"));
  Result<Workload> parsed = ParseWorkload(workload);
  if (!parsed.ok()) return Within("'workload'", parsed.error());
  step.workload = *std::move(parsed);
  INFIMUM_ASSIGN_OR_RETURN(step.candidate.name, TextField(object, "candidate"));
  if (object.contains("input_layout")) {
    INFIMUM_ASSIGN_OR_RETURN(step.candidate.input_layout, TextField(object, "input_layout"));
    INFIMUM_ASSIGN_OR_RETURN(step.candidate.output_layout, TextField(object, "output_layout"));
  }
  INFIMUM_ASSIGN_OR_RETURN(step.operands, IndicesField(object, "operands"));
  INFIMUM_ASSIGN_OR_RETURN(step.outputs, IndicesField(object, "outputs"));
  INFIMUM_ASSIGN_OR_RETURN(const Json* const values, ArrayField(object, "values"));
  for (const Json& item : *values) {
    INFIMUM_ASSIGN_OR_RETURN(ReplayValues one, ValuesFrom(item));
    step.values.push_back(std::move(one));
  }
  if (!object.contains("value_tensors")) return step;
  INFIMUM_ASSIGN_OR_RETURN(const Json* const tensors, ArrayField(object, "value_tensors"));
  for (const Json& item : *tensors) {
    INFIMUM_ASSIGN_OR_RETURN(ReplayValueTensors one, ValueTensorsFrom(item));
    step.value_tensors.push_back(std::move(one));
  }
  return step;
}

}  // namespace

std::string FormatReplaySchedule(const ReplaySchedule& schedule) {
  Json tensors = Json::array();
  for (const ReplayTensor& tensor : schedule.tensors) {
    tensors.push_back({{"name", tensor.name},
                       {"kind", Name(tensor.kind)},
                       {"dtype", Name(tensor.type)},
                       {"shape", tensor.shape.dims},
                       {"output", tensor.is_output}});
    if (tensor.fill) tensors.back()["fill"] = *tensor.fill;
  }
  Json steps = Json::array();
  for (const ReplayStep& step : schedule.steps) {
    Json values = Json::array();
    for (const ReplayValues& one : step.values) values.push_back(one.empty() ? Json::object() : Json(one));
    steps.push_back({{"name", step.name},
                     {"layers", step.layers},
                     {"workload", Format(step.workload)},
                     {"candidate", step.candidate.name},
                     {"operands", step.operands},
                     {"outputs", step.outputs},
                     {"values", std::move(values)}});
    if (!step.candidate.input_layout.empty() || !step.candidate.output_layout.empty()) {
      steps.back()["input_layout"] = step.candidate.input_layout;
      steps.back()["output_layout"] = step.candidate.output_layout;
    }
    if (step.value_tensors.empty()) continue;
    Json& in_tensors = steps.back()["value_tensors"] = Json::array();
    for (const ReplayValueTensors& one : step.value_tensors) {
      in_tensors.push_back(one.empty() ? Json::object() : Json(one));
    }
  }
  Json document{{"schema", kScheduleSchema},
                {"model", schedule.model},
                {"tensors", std::move(tensors)},
                {"steps", std::move(steps)}};
  if (!schedule.contract.empty()) document["contract"] = schedule.contract;
  return DumpJson(document) + '\n';
}

Result<ReplaySchedule> ParseReplaySchedule(std::string_view text) {
  INFIMUM_ASSIGN_OR_RETURN(const Json document, ParseJson(text));
  INFIMUM_ASSIGN_OR_RETURN(const std::string schema, TextField(document, "schema"));
  if (schema != kScheduleSchema)
    return Error{"'schema' is " + Quoted(schema) + ", expected " + std::string(kScheduleSchema)};
  ReplaySchedule schedule;
  INFIMUM_ASSIGN_OR_RETURN(schedule.model, TextField(document, "model"));
  INFIMUM_ASSIGN_OR_RETURN(const Json* const tensors, ArrayField(document, "tensors"));
  for (std::size_t i = 0; i < tensors->size(); ++i) {
    Result<ReplayTensor> tensor = TensorFrom((*tensors)[i]);
    if (!tensor.ok()) return Within(Place("tensors", i), tensor.error());
    schedule.tensors.push_back(*std::move(tensor));
  }
  INFIMUM_ASSIGN_OR_RETURN(const Json* const steps, ArrayField(document, "steps"));
  for (std::size_t i = 0; i < steps->size(); ++i) {
    Result<ReplayStep> step = StepFrom((*steps)[i]);
    if (!step.ok()) return Within(Place("steps", i), step.error());
    schedule.steps.push_back(*std::move(step));
  }
  if (document.contains("contract")) {
    INFIMUM_ASSIGN_OR_RETURN(schedule.contract, TextField(document, "contract"));
  }
  INFIMUM_RETURN_IF_ERROR(Validate(schedule));
  return schedule;
}

}  // namespace infimum
