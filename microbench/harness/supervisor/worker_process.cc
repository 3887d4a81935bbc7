#include "microbench/harness/supervisor/worker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <vector>

#include "infimum/base/quantity_text.h"
#include "infimum/base/text.h"
#include "microbench/harness/supervisor/environment.h"

extern char** environ;

namespace infimum {
namespace {

constexpr auto kTick = std::chrono::milliseconds(100);
constexpr auto kLateSilence = std::chrono::seconds(3);  // of a worker whose time is over: it is stuck, not slow
constexpr std::size_t kKeptErrorText = 2000;
constexpr std::size_t kLongestAnswer = std::size_t{256} << 20;

struct Pipe {
  int read_end = -1;
  int write_end = -1;
};

Result<Pipe> MakePipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    return Error{std::string("cannot create a pipe for a worker: ") + std::strerror(errno)};
  return Pipe{ends[0], ends[1]};
}

void CloseAndForget(int& descriptor) {
  if (descriptor >= 0) close(descriptor);
  descriptor = -1;
}

// The environment of this process with `replaced` ("NAME=value") put in place.
std::vector<std::string> EnvironmentWith(const std::vector<std::string>& replaced) {
  std::vector<std::string> variables = replaced;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const std::string_view name = text.substr(0, text.find('=') + 1);
    const bool ours = name == "OMP_PLACES=" || name == "GOMP_CPU_AFFINITY=" || name == "KMP_AFFINITY=" ||
                      std::ranges::any_of(
                          replaced, [&](const std::string& other) { return !name.empty() && other.starts_with(name); });
    if (!ours) variables.emplace_back(text);
  }
  return variables;
}

// The last line that is not empty.
std::string_view LastLine(std::string_view text) {
  text = TrimSpace(text);
  const std::size_t end = text.rfind('\n');
  return end == std::string_view::npos ? text : TrimSpace(text.substr(end + 1));
}

}  // namespace

Status WorkerProcess::Start(std::int64_t process) {
  Stop();
  options_.setup.backend.process = process;
  INFIMUM_ASSIGN_OR_RETURN(Pipe requests, MakePipe());
  INFIMUM_ASSIGN_OR_RETURN(Pipe answers, MakePipe());
  INFIMUM_ASSIGN_OR_RETURN(Pipe errors, MakePipe());

  // Everything that allocates happens before the fork.
  const std::vector<int>& cores = options_.setup.backend.cores;
  std::vector<std::string> arguments{options_.name, std::string(kWorkerFlag), FormatSetup(options_.setup)};
  std::vector<std::string> variables = EnvironmentWith(OpenMpEnvironment(options_.setup.backend.threads, cores));
  const std::vector<char*> argument_pointers = Pointers(arguments);
  const std::vector<char*> variable_pointers = Pointers(variables);
  cpu_set_t affinity;
  CPU_ZERO(&affinity);
  for (int core : cores) CPU_SET(static_cast<std::size_t>(core), &affinity);
  const int no_input = open("/dev/null", O_RDONLY | O_CLOEXEC);

  memory_kills_.emplace();
  const pid_t supervisor = getpid();
  pid_ = fork();
  if (pid_ == 0) {
    // Dies with its supervisor, also when it hangs; asked for here, since loading libraries takes a while.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != supervisor) _exit(126);
    // A Ctrl-C is for the supervisor, which then ends the worker.
    setpgid(0, 0);
    if (!cores.empty() && sched_setaffinity(0, sizeof affinity, &affinity) != 0) _exit(126);
    // First out of the way, since the pipes may have the very numbers that they are to get.
    const int request_end = fcntl(requests.read_end, F_DUPFD, 16);
    const int answer_end = fcntl(answers.write_end, F_DUPFD, 16);
    const int error_end = fcntl(errors.write_end, F_DUPFD, 16);
    if (dup2(no_input, STDIN_FILENO) < 0 || dup2(error_end, STDOUT_FILENO) < 0 || dup2(error_end, STDERR_FILENO) < 0 ||
        dup2(request_end, kRequestDescriptor) < 0 || dup2(answer_end, kAnswerDescriptor) < 0)
      _exit(126);
    close_range(kAnswerDescriptor + 1, ~0U, 0);
    execve(options_.executable.c_str(), argument_pointers.data(), variable_pointers.data());
    _exit(127);
  }
  if (no_input >= 0) close(no_input);
  close(requests.read_end);
  close(answers.write_end);
  close(errors.write_end);
  requests_ = requests.write_end;
  answers_ = answers.read_end;
  errors_ = errors.read_end;
  for (int descriptor : {requests_, answers_, errors_}) fcntl(descriptor, F_SETFL, O_NONBLOCK);
  answer_text_.clear();
  error_text_.clear();
  if (pid_ < 0) {
    const Error error{std::string("cannot start a worker: ") + std::strerror(errno)};
    CloseDescriptors();
    return error;
  }
  return {};
}

WorkerReply WorkerProcess::Ask(const WorkerRequest& request, TimeLimit limit) {
  if (pid_ < 0) return WorkerLoss{WorkerLoss::Cause::kDied, "no worker is running"};
  return WaitForAnswer(FormatRequest(request) + '\n', limit);
}

WorkerReply WorkerProcess::WaitForAnswer(std::string_view request, TimeLimit limit) {
  const Clock& clock = SteadyClock();
  const Clock::Duration start = clock.Now();
  Clock::Duration next_tick = start + kTick;
  std::optional<Clock::Duration> prepared;
  if (limit.answer == limit.whole) prepared = start;
  const auto processor_time = [this] { return ProcessorTimeOf(pid_); };
  LifeSigns work(clock, processor_time), life(clock, processor_time);
  while (true) {
    const Clock::Duration now = clock.Now();
    const Clock::Duration silence = life.Silence();
    const bool is_late = now - start >= limit.whole;
    const bool is_slow = prepared ? now - *prepared >= limit.answer : work.Silence() >= limit.answer;
    if (silence >= options_.longest_silence || ((is_late || is_slow) && silence >= kLateSilence))
      return Kill(WorkerLoss::Cause::kStuck,
                  "no response for " + FormatDuration(std::chrono::floor<std::chrono::seconds>(silence)));
    if (is_late || is_slow)
      return Kill(WorkerLoss::Cause::kTimeLimit,
                  "no answer within " + FormatDuration(is_late ? limit.whole : limit.answer));
    const Clock::Duration end = prepared ? std::min(*prepared + limit.answer, start + limit.whole) : next_tick;
    if (now >= next_tick) {
      next_tick = now + kTick;
      options_.tick();
      if (Bytes resident; OverMemoryLimit(&resident)) {
        return Kill(WorkerLoss::Cause::kMemoryLimit, "used " + FormatByteCount(resident) + ", over the limit of " +
                                                         FormatByteCount(options_.setup.most_memory) +
                                                         ", raise --max-memory");
      }
    }
    std::array<pollfd, 4> watched{pollfd{answers_, POLLIN, 0}, pollfd{errors_, POLLIN, 0},
                                  pollfd{options_.interrupt_descriptor, POLLIN, 0},
                                  pollfd{request.empty() ? -1 : requests_, POLLOUT, 0}};
    const auto wait =
        std::chrono::ceil<std::chrono::milliseconds>(std::max(std::min(next_tick, end) - now, Clock::Duration(0)));
    const int ready = poll(watched.data(), watched.size(), static_cast<int>(wait.count()));
    if (ready < 0 && errno != EINTR) return Kill(WorkerLoss::Cause::kDied, std::strerror(errno));
    if (ready <= 0) continue;
    if (watched[2].revents != 0) return Kill(WorkerLoss::Cause::kInterrupted, "interrupted");
    if (watched[1].revents != 0) {
      std::string text;
      if (!Drain(errors_, text)) CloseAndForget(errors_);
      if (!text.empty()) options_.log(text);
      error_text_ += text;
      if (error_text_.size() > kKeptErrorText) error_text_.erase(0, error_text_.size() - kKeptErrorText);
    }
    if (watched[3].revents != 0) {
      const ssize_t written = write(requests_, request.data(), request.size());
      if (written > 0) request.remove_prefix(static_cast<std::size_t>(written));
      // A worker that died is found out below, by the end of its answers.
      if (written < 0 && errno != EAGAIN && errno != EINTR) request = {};
    }
    if (watched[0].revents != 0) {
      const bool open = Drain(answers_, answer_text_);
      std::size_t line_end;
      while ((line_end = answer_text_.find('\n')) != std::string::npos) {
        const std::string line = answer_text_.substr(0, line_end);
        answer_text_.erase(0, line_end + 1);
        life.Note();
        if (line == kAliveLine) continue;
        if (line == kPreparedLine) {
          if (!prepared) prepared = clock.Now();
          continue;
        }
        Result<WorkerAnswer> answer = ParseAnswer(line);
        if (!answer.ok()) return Kill(WorkerLoss::Cause::kDied, answer.error().message);
        return *std::move(answer);
      }
      if (!open) return Reap();
      if (answer_text_.size() > kLongestAnswer) return Kill(WorkerLoss::Cause::kDied, "its answer is too long");
    }
  }
}

// Reads what there is; false at the end.
bool WorkerProcess::Drain(int descriptor, std::string& into) {
  std::array<char, 1 << 16> chunk;
  while (true) {
    const ssize_t count = read(descriptor, chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno == EAGAIN;
    if (count == 0) return false;
    into.append(chunk.data(), static_cast<std::size_t>(count));
    if (static_cast<std::size_t>(count) < chunk.size()) return true;
  }
}

bool WorkerProcess::OverMemoryLimit(Bytes* resident) const {
  if (options_.setup.most_memory.value <= 0) return false;
  std::ifstream statm("/proc/" + std::to_string(pid_) + "/statm");
  std::int64_t total_pages = 0;
  std::int64_t resident_pages = 0;
  if (!(statm >> total_pages >> resident_pages)) return false;
  *resident = Bytes{resident_pages * sysconf(_SC_PAGESIZE)};
  return *resident > options_.setup.most_memory;
}

WorkerLoss WorkerProcess::Kill(WorkerLoss::Cause cause, std::string reason) {
  kill(pid_, SIGKILL);
  Reap();
  return {cause, std::move(reason)};
}

WorkerLoss WorkerProcess::Reap() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  if (errors_ >= 0) Drain(errors_, error_text_);
  CloseDescriptors();
  std::string reason = DescribeExit(status, *memory_kills_);
  // Its own limit ends it in an orderly way, with words of what it was doing.
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
    reason += "; with a lower --max-memory the runner reports which candidate needs too much";
  if (const std::string_view line = LastLine(error_text_); !line.empty()) reason += "; it wrote " + Quoted(line);
  return {WorkerLoss::Cause::kDied, std::move(reason)};
}

void WorkerProcess::Stop() {
  if (pid_ < 0) return;
  CloseAndForget(requests_);
  const Clock::Duration end = SteadyClock().Now() + std::chrono::seconds(1);
  while (SteadyClock().Now() < end) {
    if (waitpid(pid_, nullptr, WNOHANG) != 0) {
      pid_ = -1;
      CloseDescriptors();
      return;
    }
    poll(nullptr, 0, 2);
  }
  Kill(WorkerLoss::Cause::kDied, "");
}

void WorkerProcess::CloseDescriptors() {
  CloseAndForget(requests_);
  CloseAndForget(answers_);
  CloseAndForget(errors_);
}

}  // namespace infimum
