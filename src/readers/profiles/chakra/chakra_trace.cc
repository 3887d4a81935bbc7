#include "src/readers/profiles/chakra/chakra_trace.h"

#include <string>
#include <utility>
#include <vector>

#include "src/readers/profiles/chakra/chakra_execution.h"
#include "src/readers/profiles/chakra/chakra_workload.h"
#include "src/readers/profiles/events/trace_events.h"

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

}  // namespace

Result<Trace> ReadChakraTrace(std::istream& input, std::string_view origin) {
  ingest::Oddities oddities;
  ingest::ChakraWorkload workload(oddities);
  ingest::ChakraExecution execution(oddities);
  bool is_graph = false;
  const auto read = [&](ingest::TraceEvent& event) {
    is_graph = event.list == kGraph;
    return is_graph ? workload.Read(event) : execution.Read(event);
  };
  INFIMUM_ASSIGN_OR_RETURN(const ingest::TraceFrame frame,
                           ingest::ReadTraceEvents(input, origin, Nodes(), oddities, read,
                                                   [&] { return is_graph ? workload.Take() : execution.Take(); }));
  const auto finish = [&]() -> Result<Trace> {
    if (frame.list != kGraph) return std::move(execution).Finish();
    INFIMUM_ASSIGN_OR_RETURN(RunProfile run, std::move(workload).Finish(frame.top));
    return Trace(std::move(run));
  };
  Result<Trace> trace = finish();
  if (!trace.ok()) return Within(std::string(origin), oddities.Explain(trace.error()));
  auto* const run = std::get_if<RunProfile>(&*trace);
  const double skipped = run != nullptr ? run->skipped_share : std::get<Timeline>(*trace).skipped_share;
  std::vector<std::string>& into = run != nullptr ? run->warnings : std::get<Timeline>(*trace).remarks;
  for (std::string& remark : oddities.Remarks(skipped)) into.push_back(std::move(remark));
  return trace;
}

}  // namespace infimum
