#include "src/app/commands/campaign/campaign_part.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>

#include "infimum/base/file_text.h"
#include "infimum/base/text.h"
#include "infimum/db/store.h"
#include "src/app/commands/store/store_transfer.h"
#include "src/app/options.h"
#include "src/app/processes/interrupt.h"
#include "src/app/runners/campaign.h"

namespace infimum::cli {
namespace {

// Held while something is timed on this machine, by whichever campaign of this user.
class TimingLock {
 public:
  TimingLock() = default;
  TimingLock(const TimingLock&) = delete;
  TimingLock& operator=(const TimingLock&) = delete;
  ~TimingLock() {
    if (descriptor_ >= 0) close(descriptor_);
  }

  Status Wait(ProgressLog& log) {
    const std::string path =
        (std::filesystem::temp_directory_path() / fmt::format("infimum-timing-{}.lock", getuid())).string();
    descriptor_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (descriptor_ < 0) return Error{path + ": cannot be opened: " + std::strerror(errno)};
    bool said = false;
    while (flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) return Error{path + ": cannot be locked: " + std::strerror(errno)};
      if (Interrupted()) return Error{"interrupted while another part was timed on this machine"};
      if (!std::exchange(said, true)) log.Say("waiting: another part is timed on this machine");
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
    return {};
  }

 private:
  int descriptor_ = -1;
};

}  // namespace

Status MeasurePart(const CampaignFolder& campaign, const std::string& kind, std::int64_t shard,
                   const Installation& installation, ProgressLog& log) {
  const CampaignSettings& settings = campaign.settings();
  const std::string part = fmt::format("part {} of {} ({})", shard, settings.shards, kind);
  const std::filesystem::path done = campaign.of_part(kind, shard, "done");
  std::error_code error;
  const bool is_done = std::filesystem::exists(done, error);
  std::filesystem::create_directories(done.parent_path(), error);
  if (error) return Error{fmt::format("{}: cannot be made: {}", done.parent_path().string(), error.message())};

  const InterruptHold hold;
  TimingLock lock;
  INFIMUM_RETURN_IF_ERROR(lock.Wait(log));
  CampaignOptions options;
  options.backend = settings.backend;
  options.threads = settings.threads;
  options.backend_options = settings.backend_options;
  const PlanPart measured{.plan = campaign.plan(),
                          .journal = campaign.of_part(kind, shard, "jsonl"),
                          .shard = {shard, settings.shards},
                          .tier = settings.tier,
                          .cache = settings.cache,
                          .peaks = shard == 0};
  const std::filesystem::path expected = campaign.of_part(kind, shard, "expected");
  if (!is_done && !std::filesystem::exists(expected, error)) {
    INFIMUM_ASSIGN_OR_RETURN(const std::int64_t rows, CountRows(installation, options, measured));
    INFIMUM_RETURN_IF_ERROR(WriteFile(expected, fmt::format("{}\n", rows)));
  }
  if (!is_done) INFIMUM_RETURN_IF_ERROR(RunPart(installation, options, measured, log));

  // Also of a part that is done: a store may be gone, or restored from what it was before.
  INFIMUM_ASSIGN_OR_RETURN(const std::unique_ptr<Store> store, OpenStore(settings.database, OpenMode::kReadWrite));
  INFIMUM_ASSIGN_OR_RETURN(const ImportCount count, ImportFileOf(measured.journal, {}, *store, log));
  INFIMUM_RETURN_IF_ERROR(
      WriteFile(done, fmt::format("{} rows, {} of them new\n", count.added + count.known, count.added)));
  log.Say(fmt::format("{}{}: {} rows added to {}, {} were known", part, is_done ? " is done" : "", count.added,
                      ShownAddress(settings.database), count.known));
  return {};
}

}  // namespace infimum::cli
