#include "microbench/harness/supervisor/progress.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "infimum/base/quantity_text.h"

namespace infimum {
namespace {

constexpr auto kTerminalEvery = std::chrono::milliseconds(200);
constexpr auto kPlainEvery = std::chrono::seconds(5);
constexpr auto kJsonEvery = std::chrono::milliseconds(200);
constexpr auto kAliveEvery = std::chrono::seconds(1);
constexpr std::size_t kLongestWorkload = 200;  // keeps a JSON line below PIPE_BUF, so that it is one piece

double Seconds(Clock::Duration duration) { return std::chrono::duration<double>(duration).count(); }

void WriteText(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written <= 0) return;  // no reader; measuring continues
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

std::size_t TerminalWidth() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

}  // namespace

std::string FormatProgressLine(const CampaignProgress& progress) {
  std::string text = "infimum: " + std::to_string(progress.trials) + " of ";
  if (progress.round == 1) text += "about ";
  text += std::to_string(progress.expected_trials) + " runs, round " + std::to_string(progress.round) + " of " +
          std::to_string(progress.rounds);
  if (progress.remaining) text += ", " + FormatDuration(*progress.remaining) + " left";
  if (!progress.workload.empty()) text += ": " + std::string(progress.workload.substr(0, kLongestWorkload));
  return text;
}

std::string FormatProgressJson(const CampaignProgress& progress) {
  nlohmann::ordered_json line = {{"event", "progress"},
                                 {"done", progress.trials},
                                 {"total", progress.expected_trials},
                                 {"left_s", nullptr},
                                 {"rows", progress.rows},
                                 {"round", progress.round},
                                 {"rounds", progress.rounds},
                                 {"elapsed_s", Seconds(progress.elapsed)},
                                 {"workload", progress.workload.substr(0, kLongestWorkload)}};
  if (progress.remaining) line["left_s"] = Seconds(*progress.remaining);
  return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string FormatEndJson(const CampaignSummary& summary) {
  const nlohmann::ordered_json line = {{"event", "end"},
                                       {"complete", !summary.interrupted && !summary.budget_spent},
                                       {"interrupted", summary.interrupted},
                                       {"budget_spent", summary.budget_spent},
                                       {"rows", summary.rows_written},
                                       {"earlier_rows", summary.earlier_rows},
                                       {"elapsed_s", Seconds(summary.elapsed)}};
  return line.dump();
}

void ProgressDisplay::Update(const CampaignProgress& progress) {
  workload_ = progress.workload.substr(0, kLongestWorkload);
  last_ = progress;
  last_.workload = workload_;
  last_update_ = clock_.Now();
  Show(last_update_);
}

void ProgressDisplay::Tick() {
  const Clock::Duration now = clock_.Now();
  if (last_.expected_trials > 0) {
    Show(now);
  } else if (options_.descriptor >= 0 && now - last_json_ >= kAliveEvery) {
    last_json_ = now;
    SendJson(R"({"event":"alive"})");
  }
}

void ProgressDisplay::Show(Clock::Duration now) {
  CampaignProgress shown = last_;
  shown.elapsed += now - last_update_;
  // Work past its expected end (a candidate that hangs) has no estimate.
  const Clock::Duration passed = now - last_update_;
  if (shown.remaining && passed > Clock::Duration(0)) {
    if (passed < *shown.remaining) {
      *shown.remaining -= passed;
    } else {
      shown.remaining.reset();
    }
  }
  if (options_.descriptor >= 0 && now - last_json_ >= kJsonEvery) {
    last_json_ = now;
    SendJson(FormatProgressJson(shown));
  }
  if (!options_.people) return;
  if (options_.terminal && now - last_drawn_ >= kTerminalEvery) {
    last_drawn_ = now;
    drawn_ = true;
    std::string line = FormatProgressLine(shown);
    if (const std::size_t width = TerminalWidth(); line.size() >= width) line.resize(width - 1);
    WriteText(STDERR_FILENO, "\r" + line + "\x1b[K");
  } else if (!options_.terminal && now - last_plain_ >= kPlainEvery) {
    last_plain_ = now;
    WriteText(STDERR_FILENO, FormatProgressLine(shown) + '\n');
  }
}

void ProgressDisplay::Clear() {
  if (drawn_) WriteText(STDERR_FILENO, "\r\x1b[K");
  drawn_ = false;
}

void ProgressDisplay::End(const CampaignSummary& summary) {
  Clear();
  if (options_.descriptor < 0) return;
  // The end is worth a short wait for a parent that reads slowly.
  pollfd writable{options_.descriptor, POLLOUT, 0};
  poll(&writable, 1, 1000);
  SendJson(FormatEndJson(summary));
}

// A parent that does not read must not stop the campaign: a line that would block is left out.
void ProgressDisplay::SendJson(const std::string& line) const {
  pollfd writable{options_.descriptor, POLLOUT, 0};
  if (poll(&writable, 1, 0) == 1 && (writable.revents & POLLOUT) != 0) WriteText(options_.descriptor, line + '\n');
}

}  // namespace infimum
