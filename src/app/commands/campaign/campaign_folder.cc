#include "src/app/commands/campaign/campaign_folder.h"

#include <fmt/format.h>

#include "infimum/base/file_text.h"
#include "infimum/base/sha256.h"
#include "infimum/base/text.h"
#include "infimum/db/store.h"
#include "src/app/options.h"
#include "src/app/runners/installation.h"

namespace infimum::cli {
namespace {

constexpr std::string_view kSchema = "infimum.campaign/1";

// Where a template says @NAME@. A value is taken as it is, whatever marks it has.
std::string Filled(const std::string& text, const std::map<std::string, std::string>& values) {
  std::string filled;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text[at] == '@' ? text.find('@', at + 1) : std::string::npos;
    const auto value = end == std::string::npos ? values.end() : values.find(text.substr(at + 1, end - at - 1));
    filled += value == values.end() ? text.substr(at, 1) : value->second;
    at = value == values.end() ? at + 1 : end + 1;
  }
  return filled;
}

// A name that Kubernetes takes: small letters, digits and dashes, at most 63 with a pod's index. No other campaign's or
// kind's: it ends with digits of a hash of all of them.
std::string ResourceName(const std::string& text, const std::string& all) {
  std::string name;
  for (const char c : text)
    name += std::isalnum(static_cast<unsigned char>(c)) != 0
                ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
                : '-';
  return name.substr(0, 40) + "-" + Sha256(std::as_bytes(std::span(all))).substr(0, 8);
}

}  // namespace

Result<CampaignFolder> CampaignFolder::Prepare(const std::filesystem::path& folder, CampaignSettings settings,
                                               const std::string& plan, const std::filesystem::path& templates,
                                               const std::filesystem::path& program) {
  const bool is_url = settings.database.find("://") != std::string::npos;
  const bool is_for_libpq =
      !is_url && settings.database.find('=', settings.database.find("password")) != std::string::npos;
  if (is_for_libpq || ShownAddress(settings.database) != settings.database)
    return Error{
        "--db: a password would stand in the folder for all to read; leave it out of the address: libpq takes it from "
        "the file that PGPASSFILE names, a Kubernetes Secret sets PGPASSWORD"};
  if (settings.database == ":memory:")
    return Error{"--db :memory:: each task would have a store of its own, and lose it"};
  // Tasks run elsewhere than here.
  if (!is_url) {
    constexpr std::string_view kFile = "sqlite:";
    const std::size_t at = settings.database.starts_with(kFile) ? kFile.size() : 0;
    settings.database = std::filesystem::absolute(settings.database.substr(at)).string();
  }
  for (const std::string& kind : settings.kinds)
    if (kind.empty() || kind.find('/') != std::string::npos || kind.starts_with('.'))
      return Error{"--kind " + Quoted(kind) + ": it names a folder of results: no slash, and no dot to begin with"};
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(folder).lexically_normal();
  if (std::filesystem::exists(path / "campaign.json", error))
    return Error{path.string() +
                 ": there is a campaign in this folder; name another, or see `infimum campaign status`"};
  if (std::filesystem::exists(path / "results", error) && !std::filesystem::is_empty(path / "results", error))
    return Error{path.string() + ": there are results of another campaign in this folder; name another"};
  std::filesystem::create_directories(path / "logs", error);
  if (error) return Error{fmt::format("{}: cannot be made: {}", path.string(), error.message())};

  settings.infimum = std::string(InfimumVersion());
  settings.plan_sha256 = Sha256(std::as_bytes(std::span(plan)));
  CampaignFolder campaign(path, std::move(settings));
  const CampaignSettings& made = campaign.settings_;
  INFIMUM_RETURN_IF_ERROR(WriteFile(campaign.plan(), plan));
  std::map<std::string, std::string> values = {
      {"FOLDER", ShellQuoted(path.string())},    {"INFIMUM", ShellQuoted(program.string())}, {"GPU", ""},
      {"LAST", std::to_string(made.shards - 1)}, {"SHARDS", std::to_string(made.shards)},    {"VERSION", made.infimum}};
  for (const char c : path.string()) values["LOGS"] += c == '%' ? "%%" : std::string(1, c);  // %j is Slurm's
  values["LOGS"] = ShellQuoted(values["LOGS"] + "/logs");
  const bool is_slurm = made.engine == "slurm", is_gpu = made.backend.starts_with("cuda");
  if (is_gpu) values["GPU"] = is_slurm ? "#SBATCH --gres=gpu:1\n" : ", nvidia.com/gpu: \"1\"";
  INFIMUM_ASSIGN_OR_RETURN(const std::string text,
                           ReadFile(templates / (is_slurm ? "slurm.sbatch" : "kubernetes.yaml")));
  // Slurm's script takes the kind as its argument; a Job says it in several places.
  if (is_slurm) INFIMUM_RETURN_IF_ERROR(WriteFile(path / "campaign.sbatch", Filled(text, values)));
  for (const std::string& kind : made.kinds) {
    if (is_slurm) break;
    values["KIND"] = DumpJson(Json(kind));
    values["FOLDER"] = DumpJson(Json(path.string()));
    const char* const label = is_gpu ? "nvidia.com/gpu.product" : "node.kubernetes.io/instance-type";
    values["SELECTOR"] = kind == kAnyKind ? "" : fmt::format("{}: {}", label, values["KIND"]);
    values["NAME"] = ResourceName("infimum-" + kind, kind + "\n" + path.string() + "\n" + made.plan_sha256);
    INFIMUM_RETURN_IF_ERROR(WriteFile(path / ("campaign-" + kind + ".yaml"), Filled(text, values)));
  }
  // Last: a folder with these settings is whole.
  INFIMUM_RETURN_IF_ERROR(WriteFile(path / "campaign.json", FormatDocument(kSchema, made, 2)));
  return campaign;
}

Result<CampaignFolder> CampaignFolder::Open(const std::filesystem::path& folder) {
  const std::filesystem::path path = std::filesystem::absolute(folder).lexically_normal();
  const std::string file = (path / "campaign.json").string();
  const Result<std::string> text = ReadFile(file);
  if (!text.ok())
    return Error{text.error().message + "; `infimum campaign prepare PLAN --db ADDRESS -o " + folder.string() +
                 "` makes a campaign"};
  INFIMUM_ASSIGN_OR_RETURN(CampaignSettings settings, Within(file, ParseDocument<CampaignSettings>(*text, kSchema)));
  CampaignFolder campaign(path, std::move(settings));
  const std::optional<std::string> hash = Sha256OfFile(campaign.plan());
  if (!hash) return Error{campaign.plan().string() + ": cannot be read"};
  if (*hash != campaign.settings_.plan_sha256)
    return Error{
        campaign.plan().string() +
        ": edited after the campaign was prepared, so that its parts are others; prepare a campaign of its own "
        "from it"};
  return campaign;
}

std::filesystem::path CampaignFolder::of_part(const std::string& kind, std::int64_t shard, const char* what) const {
  return path_ / "results" / kind / fmt::format("{}.{}", shard, what);
}

std::vector<std::string> CampaignFolder::Submissions() const {
  std::vector<std::string> lines;
  for (const std::string& kind : settings_.kinds) {
    if (settings_.engine == "slurm")
      lines.push_back(fmt::format("sbatch {}{} {}", kind == kAnyKind ? "" : "--constraint=" + ShellQuoted(kind) + " ",
                                  ShellQuoted((path_ / "campaign.sbatch").string()), ShellQuoted(kind)));
    else
      lines.push_back("kubectl apply -f " + ShellQuoted((path_ / ("campaign-" + kind + ".yaml")).string()));
  }
  return lines;
}

}  // namespace infimum::cli
