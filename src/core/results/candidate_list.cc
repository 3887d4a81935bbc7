#include "src/core/results/candidate_list.h"

#include "src/core/results/record_json.h"

namespace infimum {
namespace {

constexpr std::string_view kListSchema = "infimum.candidates/1";

}  // namespace

static void VisitFields(auto& visit, Like<OfferedCandidate> auto& offered) {
  VisitFields(visit, offered.candidate);
  visit.Lenient("notes", offered.notes);
}

static void VisitFields(auto& visit, Like<CandidateList> auto& list) {
  visit("workload", list.workload);
  visit("contract", list.contract);
  visit("tier", list.tier);
  visit.Lenient("library", list.library);
  visit.Lenient("version", list.version);
  visit.Lenient("device", list.device);
  visit("candidates", list.candidates);
  visit.Lenient("refusal", list.refusal);
}

std::string FormatCandidateList(const CandidateList& list) {
  JsonWriter<Json> writer;
  writer("schema", std::string(kListSchema));
  VisitFields(writer, list);
  return DumpJson(writer.object);
}

Result<CandidateList> ParseCandidateList(std::string_view line) {
  return Within("a list of candidates", ParseDocument<CandidateList>(line, kListSchema));
}

}  // namespace infimum
