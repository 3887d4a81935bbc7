// Chakra's traces of an execution: what PyTorch's ExecutionTraceObserver wrote, and chakra_trace_link added times to.
//
//   ChakraExecution execution(oddities);
//   execution.Read(event), execution.Take();   // each of "nodes"
//   std::move(execution).Finish();             // with times a timeline, else layers without samples
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <variant>

#include "infimum/base/result.h"
#include "infimum/graph/run_profile.h"
#include "infimum/graph/timeline.h"
#include "src/core/graph/name_table.h"
#include "src/readers/profiles/events/event_field.h"
#include "src/readers/profiles/events/trace_events.h"

namespace infimum::ingest {

// A node as it is kept: its texts by number, since most of a trace's are the same few.
struct ExecutionNode {
  std::int64_t id = 0;
  std::int64_t caller = -1;
  std::optional<std::int64_t> start_ns;
  std::int64_t duration_ns = 0;
  std::int64_t stream = 0;
  std::int64_t thread = 0;
  NameId name = kNoName;
  NameId category = kNoName;  // of device work: "kernel"
  // Of an operator the lists of its tensors as they stand in the file.
  NameId input_shapes = kNoName, input_types = kNoName, output_shapes = kNoName, output_types = kNoName;
  bool is_operator = false;  // of PyTorch: it has a schema
};

class ChakraExecution {
 public:
  explicit ChakraExecution(Oddities& oddities) : oddities_(oddities) {}

  simdjson::error_code Read(TraceEvent& event);
  Status Take();
  Result<std::variant<RunProfile, Timeline>> Finish() &&;

 private:
  simdjson::error_code ReadAttributes(simdjson::ondemand::value& list);
  Result<RunProfile> Layers() const;
  Timeline TakeTimeline();

  Oddities& oddities_;
  EventField id_{"id", oddities_}, name_{"name", oddities_}, category_{"cat", oddities_},
      caller_{"ctrl_deps", oddities_}, parent_{"parent", oddities_}, stream_{"stream", oddities_},
      start_{"ts", oddities_}, duration_{"inclusive_dur", oddities_}, schema_{"op_schema", oddities_},
      thread_{"tid", oddities_};
  EventField input_shapes_{"shapes", oddities_}, input_types_{"types", oddities_}, output_shapes_{"shapes", oddities_},
      output_types_{"types", oddities_};
  EventField attribute_name_{"name", oddities_}, attribute_value_{"value", oddities_};
  const FieldSet fields_ = {&id_,     &name_,  &category_, &caller_, &parent_,
                            &stream_, &start_, &duration_, &schema_, &thread_};
  const FieldSet inputs_ = {&input_shapes_, &input_types_};
  const FieldSet outputs_ = {&output_shapes_, &output_types_};
  const FieldSet attribute_ = {&attribute_name_, &attribute_value_};
  // What an attribute says goes before a field of the node.
  std::optional<bool> has_schema_;
  std::optional<std::int64_t> attribute_thread_;

  NameTable names_;
  // A deque: growing one copies nothing, and what has become a call of the timeline is given back at once.
  std::deque<ExecutionNode> nodes_;
};

}  // namespace infimum::ingest
