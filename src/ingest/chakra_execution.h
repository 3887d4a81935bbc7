// Chakra's traces of an execution: what PyTorch's ExecutionTraceObserver wrote, and chakra_trace_link added times to.
//
//   ChakraExecution execution;
//   execution.Take(event);               // each of "nodes"
//   std::move(execution).Finish();       // with times a timeline, else layers without samples
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <variant>

#include "infimum/base/result.h"
#include "infimum/graph/name_table.h"
#include "infimum/graph/run_profile.h"
#include "infimum/graph/timeline.h"
#include "src/ingest/event_field.h"
#include "src/ingest/trace_events.h"

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
  Status Take(TraceEvent& event);
  Result<std::variant<RunProfile, Timeline>> Finish() &&;

 private:
  Status TakeAttributes(simdjson::ondemand::value& list);
  Result<RunProfile> Layers() const;
  Timeline TakeTimeline();

  EventField id_{"id"}, name_{"name"}, category_{"cat"}, caller_{"ctrl_deps"}, parent_{"parent"}, stream_{"stream"},
      start_{"ts"}, duration_{"inclusive_dur"}, schema_{"op_schema"}, thread_{"tid"};
  EventField input_shapes_{"shapes"}, input_types_{"types"}, output_shapes_{"shapes"}, output_types_{"types"};
  EventField attribute_name_{"name"}, attribute_value_{"value"};
  const std::array<EventField*, 10> fields_ = {&id_,     &name_,  &category_, &caller_, &parent_,
                                               &stream_, &start_, &duration_, &schema_, &thread_};
  const std::array<EventField*, 2> inputs_ = {&input_shapes_, &input_types_};
  const std::array<EventField*, 2> outputs_ = {&output_shapes_, &output_types_};
  const std::array<EventField*, 2> attribute_ = {&attribute_name_, &attribute_value_};
  // What an attribute says goes before a field of the node.
  std::optional<bool> has_schema_;
  std::optional<std::int64_t> attribute_thread_;

  NameTable names_;
  // A deque: growing one copies nothing, and what has become a call of the timeline is given back at once.
  std::deque<ExecutionNode> nodes_;
};

}  // namespace infimum::ingest
