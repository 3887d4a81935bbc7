#include "src/core/results/candidate_list.h"

#include <nlohmann/json.hpp>

#include "infimum/base/text.h"

namespace infimum {
namespace {

constexpr std::string_view kListSchema = "infimum.candidates/1";

std::string TextOf(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

std::string FormatCandidateList(const CandidateList& list) {
  nlohmann::json candidates = nlohmann::json::array();
  for (const OfferedCandidate& offered : list.candidates) {
    const Candidate& candidate = offered.candidate;
    candidates.push_back({{"library", candidate.library},
                          {"algorithm", candidate.algorithm},
                          {"input_layout", candidate.input_layout},
                          {"output_layout", candidate.output_layout},
                          {"library_choice", candidate.library_choice},
                          {"notes", offered.notes}});
  }
  const nlohmann::json document = {{"schema", kListSchema},           {"workload", list.workload},
                                   {"contract", Name(list.contract)}, {"tier", Name(list.tier)},
                                   {"library", list.library},         {"version", list.version},
                                   {"device", list.device},           {"candidates", std::move(candidates)},
                                   {"refusal", list.refusal}};
  return document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Result<CandidateList> ParseCandidateList(std::string_view line) {
  const nlohmann::json document = nlohmann::json::parse(line, nullptr, false);
  if (document.is_discarded() || !document.is_object()) return Error{"a list of candidates is no JSON object"};
  if (TextOf(document, "schema") != kListSchema)
    return Error{"a list of candidates has the schema " + Quoted(TextOf(document, "schema")) + ", not " +
                 Quoted(std::string(kListSchema))};
  CandidateList list;
  list.workload = TextOf(document, "workload");
  const std::optional<NumericContract> contract = FindContract(TextOf(document, "contract"));
  const std::optional<CandidateTier> tier = FindTier(TextOf(document, "tier"));
  if (!contract || !tier) return Error{"a list of candidates has no contract or tier that is known"};
  list.contract = *contract;
  list.tier = *tier;
  list.library = TextOf(document, "library");
  list.version = TextOf(document, "version");
  list.device = TextOf(document, "device");
  list.refusal = TextOf(document, "refusal");
  const auto candidates = document.find("candidates");
  if (candidates == document.end() || !candidates->is_array()) return Error{"a list of candidates has no candidates"};
  for (const nlohmann::json& entry : *candidates) {
    if (!entry.is_object()) return Error{"a list of candidates has an entry that is no object"};
    OfferedCandidate offered;
    offered.candidate = {TextOf(entry, "library"), TextOf(entry, "algorithm"), TextOf(entry, "input_layout"),
                         TextOf(entry, "output_layout"), entry.value("library_choice", false)};
    offered.notes = TextOf(entry, "notes");
    list.candidates.push_back(std::move(offered));
  }
  return list;
}

}  // namespace infimum
