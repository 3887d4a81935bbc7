#include "src/app/processes/progress_log.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "infimum/base/utf8.h"

namespace infimum {
namespace {

std::string FormatLeft(std::chrono::seconds left) {
  const auto seconds = left.count();
  if (seconds < 90) return fmt::format("{} s left", seconds);
  return fmt::format("{} min {:02} s left", seconds / 60, seconds % 60);
}

}  // namespace

ProgressLog::ProgressLog(Loudness loudness, bool terminal, std::function<void(std::string_view)> write)
    : loudness_(loudness), terminal_(terminal), write_(std::move(write)) {}

void WriteToStandardError(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

void Complain(std::string_view what) { WriteToStandardError(fmt::format("infimum: error: {}\n", Printable(what))); }

ProgressLog ProgressLog::ToStandardError(Loudness loudness) {
  return ProgressLog(loudness, isatty(STDERR_FILENO) == 1, WriteToStandardError);
}

void ProgressLog::Line(std::string_view text) {
  EndProgress();
  write_(fmt::format("infimum: {}\n", Printable(text)));  // names of files and of what is in them
}

void ProgressLog::Say(std::string_view line) {
  if (loudness_ != Loudness::kQuiet) Line(line);
}

void ProgressLog::Detail(std::string_view line) {
  if (loudness_ == Loudness::kVerbose) Line(line);
}

void ProgressLog::Warn(std::string_view line) { Line(fmt::format("warning: {}", line)); }

void ProgressLog::Progress(std::string_view what, std::int64_t done, std::int64_t total,
                           std::optional<std::chrono::seconds> left) {
  constexpr int kBarWidth = 30;
  const int filled = total > 0 ? static_cast<int>(std::clamp<std::int64_t>(done * kBarWidth / total, 0, kBarWidth)) : 0;
  std::string text = fmt::format("{} {}/{}", what, done, total);
  if (left) text += ", " + FormatLeft(*left);
  Show(text, fmt::format("[{}{}] ", std::string(static_cast<std::size_t>(filled), '#'),
                         std::string(static_cast<std::size_t>(kBarWidth - filled), '.')));
}

void ProgressLog::Counting(std::string_view what) {
  // What is over at once needs no line of a log.
  if (!terminal_ && last_progress_.time_since_epoch().count() == 0) last_progress_ = std::chrono::steady_clock::now();
  Show(what, "");
}

void ProgressLog::Show(std::string_view text, const std::string& bar) {
  if (loudness_ == Loudness::kQuiet) return;
  const auto now = std::chrono::steady_clock::now();
  const auto pause = terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(5000);
  if (last_progress_.time_since_epoch().count() != 0 && now - last_progress_ < pause) return;
  last_progress_ = now;
  write_(terminal_ ? fmt::format("\r\x1b[Kinfimum: {}{}", bar, text) : fmt::format("infimum: {}\n", text));
  on_progress_line_ = terminal_;
}

void ProgressLog::EndProgress() {
  if (!on_progress_line_) return;
  write_("\r\x1b[K");
  on_progress_line_ = false;
}

}  // namespace infimum
