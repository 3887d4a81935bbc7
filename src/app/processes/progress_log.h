// What infimum says while it works: to standard error, so that standard output stays data.
//
//   log.Say("reading resnet50.onnx");
//   log.Progress("measuring", 12, 57, std::chrono::seconds(90));   // one line, rewritten on a terminal
//   log.Warn("the run was noisy: raise --threads or close other programs");
//
// On a terminal progress is one line that is rewritten; elsewhere plain lines, at most one in five seconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace infimum {

enum class Loudness { kQuiet, kNormal, kVerbose };

// "infimum: error: ..." on standard error, like every line of it printable. Where that cannot be written there is
// nobody to tell, and nothing else changes by it.
void Complain(std::string_view what);
void WriteToStandardError(std::string_view text);

class ProgressLog {
 public:
  // `write` gets finished text; `terminal` says whether carriage returns rewrite a line there.
  ProgressLog(Loudness loudness, bool terminal, std::function<void(std::string_view)> write);

  // To this process's standard error.
  static ProgressLog ToStandardError(Loudness loudness);

  void Say(std::string_view line);
  void Detail(std::string_view line);  // only when verbose
  void Warn(std::string_view line);
  void Progress(std::string_view what, std::int64_t done, std::int64_t total, std::optional<std::chrono::seconds> left);
  // Where nobody knows the end: how far it has come.
  void Counting(std::string_view what);
  void EndProgress();

 private:
  void Line(std::string_view text);
  void Show(std::string_view text, const std::string& bar);

  Loudness loudness_;
  bool terminal_;
  std::function<void(std::string_view)> write_;
  bool on_progress_line_ = false;
  std::chrono::steady_clock::time_point last_progress_{};
};

}  // namespace infimum
