// The folder of a campaign over many machines: what is to be measured, how, and what each part has so far.
//
//   DIR/campaign.json           the settings, with the plan's SHA-256
//   DIR/plan.txt                the plan, of which each task measures a part
//   DIR/campaign.sbatch         for the scheduler, to read and change
//   DIR/results/KIND/3.expected how many rows part 3 has when it is whole, on devices of this kind
//   DIR/results/KIND/3.jsonl    its journal
//   DIR/results/KIND/3.done     written when the journal is whole and in the store
//
//   Result<CampaignFolder> folder = CampaignFolder::Open("nightly");   // an edited plan is an error
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "infimum/base/result.h"
#include "src/core/results/json_struct.h"

namespace infimum::cli {

// Of devices that have no name: those that the scheduler chooses.
inline constexpr const char* kAnyKind = "any";

struct CampaignSettings {
  std::string infimum;  // the version that prepared it
  std::string plan_sha256;
  std::string engine;    // slurm, kubernetes
  std::string database;  // without a password
  std::string backend;
  std::map<std::string, std::string> backend_options;
  std::int64_t threads = 1;
  std::string tier, cache;  // as the runner's options have them
  std::int64_t shards = 1;
  std::vector<std::string> kinds;  // of devices: a feature of Slurm's nodes, a product of Kubernetes'
};

void VisitFields(auto& visit, Like<CampaignSettings> auto& settings) {
  visit("infimum", settings.infimum);
  visit("plan_sha256", settings.plan_sha256);
  visit("engine", settings.engine);
  visit("database", settings.database);
  visit("backend", settings.backend);
  visit("backend_options", settings.backend_options);
  visit("threads", settings.threads, {1, 1024});
  visit("tier", settings.tier);
  visit("cache", settings.cache);
  visit("shards", settings.shards, {1, 1e6});
  visit("kinds", settings.kinds);
}

class CampaignFolder {
 public:
  // Writes plan, settings and what the scheduler takes into a folder that has none yet. `plan`: its text;
  // `templates`: the folder of slurm.sbatch and kubernetes.yaml.
  static Result<CampaignFolder> Prepare(const std::filesystem::path& folder, CampaignSettings settings,
                                        const std::string& plan, const std::filesystem::path& templates,
                                        const std::filesystem::path& program);
  // One that was prepared. An error where the plan is not what it was.
  static Result<CampaignFolder> Open(const std::filesystem::path& folder);

  const CampaignSettings& settings() const { return settings_; }
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path plan() const { return path_ / "plan.txt"; }
  // "results/typeA/3.jsonl"; `what` is jsonl, expected or done.
  std::filesystem::path of_part(const std::string& kind, std::int64_t shard, const char* what) const;
  // What submits it, one line for each kind of devices.
  std::vector<std::string> Submissions() const;

 private:
  CampaignFolder(std::filesystem::path path, CampaignSettings settings)
      : path_(std::move(path)), settings_(std::move(settings)) {}

  std::filesystem::path path_;
  CampaignSettings settings_;
};

}  // namespace infimum::cli
