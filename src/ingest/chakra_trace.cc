#include "infimum/ingest/chakra_trace.h"

#include <string>
#include <utility>

#include "src/ingest/chakra_execution.h"
#include "src/ingest/chakra_workload.h"
#include "src/ingest/trace_events.h"

namespace infimum {
namespace {

using Trace = std::variant<RunProfile, Timeline>;

constexpr const char* kGraph = "workload_graph";

ingest::EventList Nodes() {
  ingest::EventList list;
  list.document = "a Chakra trace";
  list.keys = {kGraph, "nodes"};
  list.may_be_bare = false;
  list.event = "node";
  list.first_number = 1;
  return list;
}

void AddRemarks(const ingest::TraceFrame& frame, Trace& trace) {
  auto* const run = std::get_if<RunProfile>(&trace);
  std::vector<std::string>& into = run != nullptr ? run->warnings : std::get<Timeline>(trace).remarks;
  for (std::string& remark : ingest::Remarks(frame)) into.push_back(std::move(remark));
}

}  // namespace

Result<Trace> ReadChakraTrace(std::istream& input, std::string_view origin) {
  ingest::ChakraWorkload workload;
  ingest::ChakraExecution execution;
  INFIMUM_ASSIGN_OR_RETURN(const ingest::TraceFrame frame,
                           ingest::ReadTraceEvents(input, origin, Nodes(), [&](ingest::TraceEvent& event) {
                             return event.list == kGraph ? workload.Take(event) : execution.Take(event);
                           }));
  if (frame.list != kGraph) {
    Result<Trace> trace = std::move(execution).Finish();
    if (!trace.ok()) return Within(std::string(origin), trace.error());
    AddRemarks(frame, *trace);
    return trace;
  }
  Result<RunProfile> run = std::move(workload).Finish(frame.top);
  if (!run.ok()) return Within(std::string(origin), run.error());
  Trace trace(*std::move(run));
  AddRemarks(frame, trace);
  return trace;
}

}  // namespace infimum
