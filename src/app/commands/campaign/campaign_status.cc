#include "src/app/commands/campaign/campaign_status.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "infimum/base/file_text.h"
#include "infimum/base/text.h"
#include "infimum/results/results_journal.h"
#include "reports/text/csv.h"
#include "reports/text/section.h"
#include "src/app/runners/installation.h"

namespace infimum::cli {
namespace {

bool IsLocked(const std::filesystem::path& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  const bool is_locked = flock(descriptor, LOCK_SH | LOCK_NB) != 0;
  close(descriptor);
  return is_locked;
}

// The journal's last line says that its runner ended by itself, if only for an interrupt.
bool HasEnd(std::string_view journal) {
  if (!journal.ends_with('\n')) return false;
  journal.remove_suffix(1);
  return journal.substr(journal.rfind('\n') + 1).starts_with("{\"kind\":\"end\"");
}

void Note(const ResultsHeader& header, PartStatus& part) {
  const auto note = [&](const char* name, std::set<std::string>& into) {
    const auto found = header.environment.evidence.find(name);
    if (found != header.environment.evidence.end()) into.insert(found->second);
  };
  note("host", part.hosts);
  note("clocks", part.clocks);
  note("infimum", part.versions);
  part.devices.insert(header.device.name);
}

PartStatus ReadPart(const CampaignFolder& campaign, const std::string& kind, std::int64_t shard) {
  PartStatus part;
  part.kind = kind;
  part.shard = shard;
  const std::filesystem::path journal = campaign.of_part(kind, shard, "jsonl");
  std::ifstream expected(campaign.of_part(kind, shard, "expected"));
  if (std::int64_t rows = 0; expected >> rows) part.expected = rows;
  const Result<std::string> text = ReadFile(journal);
  if (!text) return part;
  std::istringstream lines(*text);
  std::set<std::string> rows, failed;
  const Status read = ReadJournal(lines, journal.string(), [&](ResultsRecord record) -> Status {
    if (const auto* header = std::get_if<ResultsHeader>(&record)) Note(*header, part);
    if (const auto* row = std::get_if<Measurement>(&record)) {
      const std::string key = RowKey(*row);
      rows.insert(key);
      if (row->outcome == Outcome::kFailed)
        failed.insert(key);
      else
        failed.erase(key);
    }
    return {};
  });
  part.rows = static_cast<std::int64_t>(rows.size());
  part.failed = static_cast<std::int64_t>(failed.size());
  if (!read.ok()) part.problem = read.error().message;
  if (std::error_code error; std::filesystem::exists(campaign.of_part(kind, shard, "done"), error))
    part.state = PartState::kSaved;
  else if (HasEnd(*text) && part.rows >= part.expected.value_or(0))
    part.state = PartState::kMeasured;
  else
    part.state = IsLocked(journal) ? PartState::kRunning : PartState::kStopped;
  return part;
}

std::string JoinSet(const std::set<std::string>& names) {
  return Join(std::vector<std::string>(names.begin(), names.end()), ", ");
}

Section PartsOf(const CampaignStatus& status, bool all) {
  Section table{.columns = {NameColumn("kind"), NumberColumn("part"), NameColumn("state"), NumberColumn("expected"),
                            NumberColumn("rows"), NumberColumn("failed"), NameColumn("host")}};
  for (const PartStatus& part : status.parts)
    if (all || part.state != PartState::kSaved)
      table.rows.push_back({part.kind, std::to_string(part.shard), part.state_name(),
                            part.expected ? std::to_string(*part.expected) : "", std::to_string(part.rows),
                            std::to_string(part.failed), JoinSet(part.hosts)});
  return table;
}

}  // namespace

std::vector<KindStatus> CampaignStatus::by_kind() const {
  std::vector<KindStatus> kinds;
  for (const std::string& kind : settings.kinds) {
    KindStatus& of =
        kinds.emplace_back(KindStatus{.kind = kind, .parts = 0, .done = 0, .is_expected_known = true, .sum = {}});
    of.sum.expected = 0;
    for (const PartStatus& part : parts) {
      if (part.kind != kind) continue;
      ++of.parts;
      of.done += part.state == PartState::kSaved ? 1 : 0;
      of.is_expected_known = of.is_expected_known && part.expected;
      *of.sum.expected += part.expected.value_or(0);
      of.sum.rows += part.rows;
      of.sum.failed += part.failed;
      for (const auto names : {&PartStatus::hosts, &PartStatus::clocks, &PartStatus::versions, &PartStatus::devices})
        (of.sum.*names).insert((part.*names).begin(), (part.*names).end());
    }
  }
  return kinds;
}

bool CampaignStatus::is_done() const {
  return std::ranges::all_of(parts, [](const PartStatus& part) { return part.state == PartState::kSaved; });
}

std::vector<std::string> CampaignStatus::remarks() const {
  std::vector<std::string> remarks;
  for (const KindStatus& of : by_kind()) {
    const auto differ = [&](const std::set<std::string>& values, const char* what) {
      if (values.size() > 1)
        remarks.push_back(fmt::format("{}: {} {}: {}", of.kind, values.size(), what, JoinSet(values)));
    };
    differ(of.sum.devices, "devices, whose rows no bound mixes; give each a kind of its own");
    differ(of.sum.clocks, "policies of clocks, so that times differ from host to host");
    differ(of.sum.versions, "versions of infimum");
  }
  for (const PartStatus& part : parts)
    if (!part.problem.empty()) remarks.push_back(part.problem);
  return remarks;
}

CampaignStatus ReadStatus(const CampaignFolder& campaign) {
  CampaignStatus status{campaign.settings(), {}};
  for (const std::string& kind : status.settings.kinds)
    for (std::int64_t shard = 0; shard < status.settings.shards; ++shard)
      status.parts.push_back(ReadPart(campaign, kind, shard));
  return status;
}

std::string StatusTable(const CampaignStatus& status, const CampaignFolder& campaign, std::size_t width) {
  Section kinds{.columns = {NameColumn("kind"), NumberColumn("parts"), NumberColumn("done"), NumberColumn("expected"),
                            NumberColumn("rows"), NumberColumn("failed"), NameColumn("hosts"), NameColumn("clocks")}};
  for (const KindStatus& of : status.by_kind())
    kinds.rows.push_back({of.kind, std::to_string(of.parts), std::to_string(of.done),
                          (of.is_expected_known ? "" : "at least ") + std::to_string(*of.sum.expected),
                          std::to_string(of.sum.rows), std::to_string(of.sum.failed), JoinSet(of.sum.hosts),
                          JoinSet(of.sum.clocks)});
  std::string text = SectionTable(kinds, width);
  if (!status.is_done()) text += "\n" + SectionTable(PartsOf(status, false), width);
  for (const std::string& remark : status.remarks()) text += "\n" + remark + "\n";
  if (!status.is_done()) {
    text += "\nto begin, or to go on with what stopped:\n";
    for (const std::string& line : campaign.Submissions()) text += "  " + line + "\n";
  }
  return text;
}

std::string StatusJson(const CampaignStatus& status) {
  OrderedJson parts = OrderedJson::array();
  for (const PartStatus& part : status.parts)
    parts.push_back({{"kind", part.kind},
                     {"part", part.shard},
                     {"state", part.state_name()},
                     {"expected", part.expected ? OrderedJson(*part.expected) : OrderedJson()},
                     {"rows", part.rows},
                     {"failed", part.failed},
                     {"hosts", part.hosts},
                     {"clocks", part.clocks},
                     {"versions", part.versions}});
  const OrderedJson document = {{"schema", "infimum.campaign-status/1"},
                                {"done", status.is_done()},
                                {"parts", std::move(parts)},
                                {"remarks", status.remarks()}};
  return DumpJson(document, 2) + "\n";
}

std::string StatusCsv(const CampaignStatus& status) { return SectionCsv(PartsOf(status, true)); }

}  // namespace infimum::cli
