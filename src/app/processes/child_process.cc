#include "src/app/processes/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <deque>

#include "infimum/base/process.h"
#include "infimum/base/quantity_text.h"
#include "src/app/processes/interrupt.h"
#include "src/app/processes/watched_child.h"

namespace infimum {
namespace {

constexpr std::size_t kMaxLine = std::size_t{64} << 20;
constexpr std::size_t kKeptErrors = 20;
constexpr auto kGrace = std::chrono::seconds(3);
constexpr auto kTick = std::chrono::milliseconds(200);
// A program without a sign of life for so long is stuck (a driver that hangs, SIGSTOP). One whose budget is over is
// given less; and however lively, it has no more than so much beyond its budget.
constexpr auto kLongestSilence = std::chrono::seconds(30);
constexpr auto kLateAfter = std::chrono::seconds(5);
constexpr auto kLongestLateSilence = std::chrono::seconds(3);
constexpr auto kMostOverBudget = std::chrono::seconds(8);
// One that is stuck in the kernel survives SIGKILL: it is waited for no longer.
constexpr auto kLongestKill = std::chrono::seconds(4);

class Pipe {
 public:
  Pipe() = default;
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    Close(0);
    Close(1);
  }

  bool Open() { return pipe2(ends_.data(), O_CLOEXEC) == 0; }
  int end(std::size_t index) const { return ends_[index]; }
  void Close(std::size_t index) {
    if (ends_[index] >= 0) close(ends_[index]);
    ends_[index] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

// Cuts what arrives into lines.
class LineBuffer {
 public:
  template <class Take>
  Status Append(std::string_view bytes, const Take& take) {
    pending_ += bytes;
    std::size_t start = 0;
    for (std::size_t end; (end = pending_.find('\n', start)) != std::string::npos; start = end + 1) {
      INFIMUM_RETURN_IF_ERROR(take(std::string_view(pending_).substr(start, end - start)));
    }
    pending_.erase(0, start);
    if (pending_.size() > kMaxLine) return Error{"a child process printed a line of over 64 MiB"};
    return {};
  }
  // A last line without its end is torn: dropped for data, kept for errors.
  const std::string& rest() const { return pending_; }

 private:
  std::string pending_;
};

std::vector<std::string> MergedEnvironment(const ProcessRequest& request) {
  std::vector<std::string> merged;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    bool replaced = false;
    for (const auto& [key, value] : request.environment) replaced = replaced || key == name;
    if (!replaced) merged.emplace_back(text);
  }
  for (const auto& [key, value] : request.environment) merged.push_back(key + "=" + value);
  return merged;
}

// Why a program has to be ended, if it has to.
class Patience {
 public:
  Patience(const ProcessRequest& request, pid_t watcher)
      : budget_(request.budget),
        knows_budget_(request.knows_budget),
        most_(request.most),
        start_(SteadyClock().Now()),
        signs_(SteadyClock(), [watcher] { return ProcessorTimeOf(DescendantsOf(watcher)); }) {}

  // It printed something, to its output or its errors.
  void Heard(bool output) {
    signs_.Note();
    if (output && !began_) began_ = SteadyClock().Now();
  }

  std::optional<std::string> AtItsEnd() {
    const Clock::Duration now = SteadyClock().Now(), silence = signs_.Silence();
    if (most_ && now - start_ >= *most_) return "had not ended after " + FormatDuration(*most_);
    const bool late = budget_ && now - start_ >= *budget_ + kLateAfter;
    if (silence >= kLongestSilence || (late && silence >= kLongestLateSilence))
      return "gave no sign of life for " + FormatDuration(std::chrono::floor<std::chrono::seconds>(silence));
    // Its first line says that it has begun: what a library takes to load is no part of the budget.
    if (budget_ && knows_budget_ && began_ && now - *began_ >= *budget_ + kMostOverBudget)
      return fmt::format("had not ended {} after its budget of {}", FormatDuration(kMostOverBudget),
                         FormatDuration(*budget_));
    return std::nullopt;
  }

 private:
  std::optional<std::chrono::seconds> budget_;
  bool knows_budget_;
  std::optional<std::chrono::seconds> most_;
  Clock::Duration start_;
  std::optional<Clock::Duration> began_;
  LifeSigns signs_;
};

}  // namespace

Result<ProcessEnd> RunProcess(const ProcessRequest& request, const TakeLine& take_output,
                              const std::function<void(std::string_view)>& take_error,
                              const std::function<Status()>& on_idle) {
  INFIMUM_CHECK(!request.arguments.empty(), "no program was given to run");
  const std::string& program = request.arguments.front();
  // A child that goes away without reading its input must be an error of the write, not the end of this process.
  std::signal(SIGPIPE, SIG_IGN);
  Pipe input, output, errors;
  if (!input.Open() || !output.Open() || !errors.Open()) {
    return Error{fmt::format("{}: no pipe could be made: {}", program, std::strerror(errno))};
  }

  const OutOfMemoryKills memory;
  INFIMUM_ASSIGN_OR_RETURN(WatchedChild child, WatchedChild::Start(request.arguments, MergedEnvironment(request),
                                                                   {input.end(0), output.end(1), errors.end(1)}));
  input.Close(0);
  output.Close(1);
  errors.Close(1);
  fcntl(input.end(1), F_SETFL, O_NONBLOCK);

  ProcessEnd end;
  std::deque<std::string> last_errors;
  const auto keep_error = [&](std::string_view line) -> Status {
    if (take_error) take_error(line);
    last_errors.emplace_back(line);
    if (last_errors.size() > kKeptErrors) last_errors.pop_front();
    return {};
  };

  LineBuffer output_lines, error_lines;
  std::size_t written = 0;
  bool output_open = true, errors_open = true;
  std::optional<std::chrono::steady_clock::time_point> asked_to_end, killed;
  Patience patience(request, child.watcher());
  // An interrupt, or patience at its end: what the child still prints is taken, too.
  const auto end_if_due = [&] {
    const auto now = std::chrono::steady_clock::now();
    if (Interrupted() && !asked_to_end) {
      child.Interrupt();
      asked_to_end = now;
      end.interrupted = true;
    }
    if (!end.interrupted && !end.given_up) end.given_up = patience.AtItsEnd();
    const bool must_go = end.given_up || (asked_to_end && now - *asked_to_end > kGrace);
    if (must_go && !killed) {
      child.Kill();
      killed = now;
    }
  };
  const auto is_stuck = [&] { return killed && std::chrono::steady_clock::now() - *killed > kLongestKill; };
  std::array<char, 1 << 16> bytes;
  if (request.input.empty()) input.Close(1);
  while ((output_open || errors_open) && !is_stuck()) {
    std::array<pollfd, 3> descriptors{pollfd{output_open ? output.end(0) : -1, POLLIN, 0},
                                      pollfd{errors_open ? errors.end(0) : -1, POLLIN, 0},
                                      pollfd{input.end(1), POLLOUT, 0}};
    if (poll(descriptors.data(), descriptors.size(), kTick.count()) < 0 && errno != EINTR) {
      return Error{fmt::format("{}: waiting for it failed: {}", program, std::strerror(errno))};
    }
    end_if_due();
    if (descriptors[2].revents != 0) {
      const ssize_t count = write(input.end(1), request.input.data() + written, request.input.size() - written);
      if (count > 0) written += static_cast<std::size_t>(count);
      const bool failed = count < 0 && errno != EAGAIN && errno != EINTR;
      if (failed || written == request.input.size()) input.Close(1);
    }
    const auto read_from = [&](int descriptor, bool& open, auto&& append) -> Status {
      const ssize_t count = read(descriptor, bytes.data(), bytes.size());
      if (count < 0 && (errno == EINTR || errno == EAGAIN)) return {};
      if (count <= 0) {
        open = false;
        return {};
      }
      patience.Heard(descriptor == output.end(0));
      return append(std::string_view(bytes.data(), static_cast<std::size_t>(count)));
    };
    if (descriptors[0].revents != 0) {
      INFIMUM_RETURN_IF_ERROR(read_from(output.end(0), output_open,
                                        [&](std::string_view text) { return output_lines.Append(text, take_output); }));
    }
    if (descriptors[1].revents != 0) {
      INFIMUM_RETURN_IF_ERROR(read_from(errors.end(0), errors_open,
                                        [&](std::string_view text) { return error_lines.Append(text, keep_error); }));
    }
    if (on_idle) INFIMUM_RETURN_IF_ERROR(on_idle());
  }
  if (!error_lines.rest().empty()) INFIMUM_RETURN_IF_ERROR(keep_error(error_lines.rest()));
  std::optional<int> status;
  while (!(status = child.Wait(kTick)) && !is_stuck()) {
    end_if_due();
    if (on_idle) INFIMUM_RETURN_IF_ERROR(on_idle());
    kill(child.watcher(), SIGCONT);  // whoever stopped it: nobody else can tell how the program ended
  }
  if (!status) status = SIGKILL;
  end.exit_code = WIFEXITED(*status) ? WEXITSTATUS(*status) : 128 + WTERMSIG(*status);
  end.out_of_memory = end.exit_code == 128 + SIGKILL && !end.given_up && memory.since().value_or(0) > 0;
  const std::string by_itself = (WIFSIGNALED(*status) ? "was " : "") + DescribeExit(*status, memory);
  end.how = end.given_up ? *end.given_up + " and was ended" : by_itself;
  end.last_errors.assign(last_errors.begin(), last_errors.end());
  return end;
}

}  // namespace infimum
