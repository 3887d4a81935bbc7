#include "src/app/commands/campaign/campaign_status.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

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
bool HasEnd(const std::filesystem::path& path) {
  constexpr std::string_view kEnd = "{\"kind\":\"end\"";
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  constexpr std::streamoff kLast = 64;
  const std::streamoff size = file.tellg();
  if (size <= 0) return false;
  std::string text(static_cast<std::size_t>(std::min(size, kLast)), '\0');
  file.seekg(-static_cast<std::streamoff>(text.size()), std::ios::end);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  const std::size_t last = text.find_last_of('\n', text.size() - 2);
  return text.ends_with('\n') && std::string_view(text).substr(last == text.npos ? 0 : last + 1).starts_with(kEnd);
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
  std::ifstream file(journal, std::ios::binary);
  if (!file) return part;
  std::set<std::string> rows, failed;
  const Status read = ReadJournal(file, journal.string(), [&](ResultsRecord record) -> Status {
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
  else if (HasEnd(journal) && part.rows >= part.expected.value_or(0))
    part.state = PartState::kMeasured;
  else
    part.state = IsLocked(journal) ? PartState::kRunning : PartState::kStopped;
  return part;
}

std::string NameOf(const PartStatus& part) { return kPartStateNames[static_cast<std::size_t>(part.state)]; }

std::string JoinSet(const std::set<std::string>& names) {
  return Join(std::vector<std::string>(names.begin(), names.end()), ", ");
}

Section PartsOf(const CampaignStatus& status, bool all) {
  Section table{.columns = {NameColumn("kind"), NumberColumn("part"), NameColumn("state"), NumberColumn("expected"),
                            NumberColumn("rows"), NumberColumn("failed"), NameColumn("host")}};
  for (const PartStatus& part : status.parts)
    if (all || part.state != PartState::kSaved)
      table.rows.push_back({part.kind, std::to_string(part.shard), NameOf(part),
                            part.expected ? std::to_string(*part.expected) : "", std::to_string(part.rows),
                            std::to_string(part.failed), JoinSet(part.hosts)});
  return table;
}

}  // namespace

bool CampaignStatus::is_done() const {
  return std::ranges::all_of(parts, [](const PartStatus& part) { return part.state == PartState::kSaved; });
}

std::vector<std::string> CampaignStatus::remarks() const {
  std::vector<std::string> remarks;
  for (const std::string& kind : settings.kinds) {
    PartStatus all;
    for (const PartStatus& part : parts) {
      if (part.kind != kind) continue;
      all.clocks.insert(part.clocks.begin(), part.clocks.end());
      all.versions.insert(part.versions.begin(), part.versions.end());
      all.devices.insert(part.devices.begin(), part.devices.end());
    }
    const auto differ = [&](const std::set<std::string>& values, const char* what) {
      if (values.size() > 1)
        remarks.push_back(fmt::format("{}: {} {}: {}", kind, values.size(), what, JoinSet(values)));
    };
    differ(all.devices, "devices, whose rows no bound mixes; give each a kind of its own");
    differ(all.clocks, "policies of clocks, so that times differ from host to host");
    differ(all.versions, "versions of infimum");
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
  for (const std::string& kind : status.settings.kinds) {
    PartStatus all;
    std::int64_t parts = 0, done = 0, expected = 0;
    bool is_known = true;
    for (const PartStatus& part : status.parts) {
      if (part.kind != kind) continue;
      ++parts;
      done += part.state == PartState::kSaved ? 1 : 0;
      expected += part.expected.value_or(0);
      is_known = is_known && part.expected;
      all.rows += part.rows;
      all.failed += part.failed;
      all.hosts.insert(part.hosts.begin(), part.hosts.end());
      all.clocks.insert(part.clocks.begin(), part.clocks.end());
    }
    kinds.rows.push_back({kind, std::to_string(parts), std::to_string(done),
                          (is_known ? "" : "at least ") + std::to_string(expected), std::to_string(all.rows),
                          std::to_string(all.failed), JoinSet(all.hosts), JoinSet(all.clocks)});
  }
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
                     {"state", NameOf(part)},
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
