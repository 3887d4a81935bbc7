#include "infimum/ingest/chakra_trace.h"

#include <utility>

#include "src/ingest/chakra_execution.h"
#include "src/ingest/chakra_workload.h"
#include "src/ingest/json_fields.h"

namespace infimum {
namespace {

using Trace = std::variant<RunProfile, Timeline>;

Result<Trace> ReadDocument(const ingest::Json& document) {
  if (!document.is_object()) return Error{"not a Chakra trace: no JSON object"};
  if (document.contains("workload_graph")) {
    INFIMUM_ASSIGN_OR_RETURN(RunProfile run, ingest::ReadChakraWorkload(document));
    return Trace(std::move(run));
  }
  if (document.contains("nodes")) return ingest::ReadChakraExecution(document);
  return Error{"not a Chakra trace: it has neither 'nodes' nor a 'workload_graph'"};
}

}  // namespace

Result<Trace> ReadChakraTrace(std::istream& input, std::string_view origin) {
  INFIMUM_ASSIGN_OR_RETURN(const ingest::Json document, ingest::ParseJson(input, origin));
  Result<Trace> trace = ReadDocument(document);
  if (!trace) return Within(std::string(origin), trace.error());
  return trace;
}

}  // namespace infimum
