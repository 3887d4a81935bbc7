#include "src/app/processes/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/types.h>
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
#include "src/app/processes/side_process.h"

namespace infimum {
namespace {

// A program that never outlives this process, nor does anything that it starts.
//
//   infimum ------ watcher ------ runner ------ worker
//                  (a fork of      |
//                   infimum)       `---- what else descends from it
//
// Between this process and the program stands a watcher, to which every orphan below it falls
// (PR_SET_CHILD_SUBREAPER). When the program ends, or on Kill(), or when this process is gone, by SIGKILL too, the
// watcher ends all that is left below it.
//
//   Result<WatchedChild> child = WatchedChild::Start(arguments, environment, {in, out, err});
//   child->Interrupt();                        // SIGINT to the program's process group
//   std::optional<int> status = child->Wait(std::chrono::milliseconds(100));

class WatchedChild {
 public:
  // `streams` become the program's standard input, output and error; they stay open here. The program is looked up on
  // the PATH and has a process group of its own: a terminal's Ctrl-C reaches it only through us.
  static Result<WatchedChild> Start(std::vector<std::string> arguments, std::vector<std::string> environment,
                                    const std::array<int, 3>& streams);
  WatchedChild(WatchedChild&& other) noexcept;
  WatchedChild(const WatchedChild&) = delete;
  WatchedChild& operator=(const WatchedChild&) = delete;
  // Kills what still runs.
  ~WatchedChild();

  pid_t watcher() const { return watcher_; }
  pid_t program() const { return program_; }
  void Interrupt() const;
  // The program and all that descends from it.
  void Kill() const;
  // The program's status as waitpid(2) has it, once nothing descends from it any more; nullopt where it takes longer.
  // That of a program whose watcher was killed counts as killed.
  std::optional<int> Wait(std::chrono::milliseconds most);

 private:
  WatchedChild(pid_t watcher, int control) : watcher_(watcher), control_(control) {}
  void Send(char command) const;
  void Reap();

  pid_t watcher_;
  int control_;  // a socket: commands there, what became of the program back
  pid_t program_ = 0;
  std::optional<int> status_;
};

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// To the watcher: one letter. From it: one of these.
constexpr char kInterrupt = 'i', kKill = 'k';
struct News {
  enum Kind : int { kStarted, kNotStarted, kEnded };
  Kind kind = kStarted;
  int value = 0;  // the program's process, the errno, the status
};

// How long descendants may take to end by themselves after a SIGTERM: a runner writes its journal's last row.
constexpr auto kOrderly = milliseconds(1000);
// One that is stuck in the kernel cannot be ended, and is not waited for.
constexpr auto kLongestWait = milliseconds(3000);
// A watcher that has been stopped is set going so often while its first message is due.
constexpr auto kWake = milliseconds(200);

// Where memory is short it is a program that we started which ends, and not this one.
void BeFirstWithoutMemory() {
  const int file = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  static_cast<void>(write(file, "1000", 4) == 4);
  close(file);
}

// The process between: entered after a fork, never left but by _exit.
class Watcher {
 public:
  explicit Watcher(int control) : control_(control) {}

  [[noreturn]] void Run(char* const* arguments, char* const* environment, const std::array<int, 3>& streams) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    sigset_t child_ends;
    sigemptyset(&child_ends);
    sigaddset(&child_ends, SIGCHLD);
    sigprocmask(SIG_BLOCK, &child_ends, nullptr);
    ends_ = signalfd(-1, &child_ends, SFD_CLOEXEC | SFD_NONBLOCK);
    if (const int error = StartProgram(arguments, environment, streams); error != 0) {
      Tell({News::kNotStarted, error});
      _exit(0);
    }
    BecomeSideProcess("infimum-watch", {control_, ends_});
    Tell({News::kStarted, program_});
    Watch();
  }

 private:
  // 0, or the errno of what failed.
  int StartProgram(char* const* arguments, char* const* environment, const std::array<int, 3>& streams) {
    std::array<int, 2> failure{};
    if (pipe2(failure.data(), O_CLOEXEC) != 0) return errno;
    program_ = fork();
    if (program_ < 0) return errno;
    if (program_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      setpgid(0, 0);
      BeFirstWithoutMemory();
      for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGALRM}) std::signal(signal, SIG_DFL);
      sigset_t none;
      sigemptyset(&none);
      sigprocmask(SIG_SETMASK, &none, nullptr);
      // Out of the way first, since they may have the very numbers that others are to get.
      std::array<int, 3> moved{};
      bool ready = true;
      for (std::size_t i = 0; i < moved.size(); ++i) moved[i] = fcntl(streams[i], F_DUPFD_CLOEXEC, 16);
      for (std::size_t i = 0; i < moved.size(); ++i) ready = ready && dup2(moved[i], static_cast<int>(i)) >= 0;
      environ = const_cast<char**>(environment);
      if (ready) execvp(arguments[0], arguments);
      const int error = errno;
      _exit(write(failure[1], &error, sizeof error) == sizeof error ? 127 : 126);
    }
    close(failure[1]);
    int error = 0;
    while (read(failure[0], &error, sizeof error) < 0 && errno == EINTR) {
    }
    close(failure[0]);
    return error;
  }

  [[noreturn]] void Watch() {
    while (!program_status_) {
      std::array<pollfd, 2> watched{pollfd{control_, POLLIN, 0}, pollfd{ends_, POLLIN, 0}};
      poll(watched.data(), watched.size(), -1);
      Reap();
      if (watched[0].revents != 0) Obey();
    }
    EndAll();
    Tell({News::kEnded, *program_status_});
    _exit(0);
  }

  void Obey() {
    char command = 0;
    const ssize_t count = read(control_, &command, 1);
    if (count < 0) return;
    if (count == 0) {  // its parent is gone
      EndAll();
      _exit(0);
    }
    if (command == kInterrupt) kill(-program_, SIGINT);
    if (command == kKill) EndAll(milliseconds(0));
  }

  // Collects who has ended, orphans too. False where nobody is left.
  bool Reap() {
    signalfd_siginfo ignored;
    while (read(ends_, &ignored, sizeof ignored) > 0) {
    }
    while (true) {
      int status = 0;
      const pid_t ended = waitpid(-1, &status, WNOHANG);
      if (ended == program_) program_status_ = status;
      if (ended < 0) return errno != ECHILD;
      if (ended == 0) return true;
    }
  }

  void EndAll(milliseconds orderly = kOrderly) {
    const auto start = steady_clock::now();
    for (bool asked = false; Reap() && steady_clock::now() - start < orderly + kLongestWait; poll(nullptr, 0, 5)) {
      const bool patient = steady_clock::now() - start < orderly;
      if (patient && asked) continue;
      asked = true;
      for (const pid_t process : DescendantsOf(getpid())) kill(process, patient ? SIGTERM : SIGKILL);
      // One that is stopped gets no SIGTERM before it goes on.
      if (patient)
        for (const pid_t process : DescendantsOf(getpid())) kill(process, SIGCONT);
    }
  }

  void Tell(const News& news) const { static_cast<void>(!send(control_, &news, sizeof news, MSG_NOSIGNAL)); }

  int control_;
  int ends_ = -1;  // readable when a child has ended
  pid_t program_ = 0;
  std::optional<int> program_status_;
};

Result<WatchedChild> WatchedChild::Start(std::vector<std::string> arguments, std::vector<std::string> environment,
                                         const std::array<int, 3>& streams) {
  const std::string& program = arguments.front();
  std::array<int, 2> control{};
  // A message is one piece, and its end is the other's death.
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control.data()) != 0)
    return Error{fmt::format("{}: cannot be started: {}", program, std::strerror(errno))};
  const std::vector<char*> argument_pointers = Pointers(arguments);
  const std::vector<char*> environment_pointers = Pointers(environment);
  const pid_t watcher = fork();
  if (watcher == 0) {
    close(control[0]);
    Watcher(control[1]).Run(argument_pointers.data(), environment_pointers.data(), streams);
  }
  const int cause = errno;
  close(control[1]);
  if (watcher < 0) {
    close(control[0]);
    return Error{fmt::format("{}: cannot be started: {}", program, std::strerror(cause))};
  }
  WatchedChild child(watcher, control[0]);
  // The program runs before its watcher says so, and may stop it: the message would never come.
  pollfd first{child.control_, POLLIN, 0};
  for (int ready = 0; (ready = poll(&first, 1, static_cast<int>(kWake.count()))) <= 0;) {
    if (ready < 0 && errno != EINTR) break;
    kill(watcher, SIGCONT);
  }
  News news;
  ssize_t count = 0;
  while ((count = read(child.control_, &news, sizeof news)) < 0 && errno == EINTR) {
  }
  if (count == sizeof news && news.kind == News::kStarted) {
    child.program_ = news.value;
    return child;
  }
  return Error{fmt::format("{}: cannot be started: {}", program,
                           count == sizeof news ? std::strerror(news.value) : "its watcher was killed")};
}

WatchedChild::WatchedChild(WatchedChild&& other) noexcept
    : watcher_(std::exchange(other.watcher_, 0)),
      control_(std::exchange(other.control_, -1)),
      program_(other.program_),
      status_(other.status_) {}

WatchedChild::~WatchedChild() {
  if (watcher_ > 0) {
    Kill();
    // A watcher that is stopped is ended, too: then the program dies with it.
    if (!Wait(kLongestWait + milliseconds(500)) && watcher_ > 0) {
      kill(watcher_, SIGKILL);
      Reap();
    }
  }
  if (control_ >= 0) close(control_);
}

void WatchedChild::Send(char command) const {
  if (watcher_ > 0) static_cast<void>(!send(control_, &command, 1, MSG_NOSIGNAL | MSG_DONTWAIT));
}

void WatchedChild::Interrupt() const { Send(kInterrupt); }

void WatchedChild::Kill() const {
  Send(kKill);
  if (watcher_ > 0) kill(watcher_, SIGCONT);
}

void WatchedChild::Reap() {
  while (watcher_ > 0 && waitpid(watcher_, nullptr, 0) < 0 && errno == EINTR) {
  }
  watcher_ = 0;
}

std::optional<int> WatchedChild::Wait(milliseconds most) {
  const auto end = steady_clock::now() + most;
  while (watcher_ > 0) {
    const auto left = std::chrono::ceil<milliseconds>(end - steady_clock::now());
    pollfd watched{control_, POLLIN, 0};
    const int ready = poll(&watched, 1, static_cast<int>(std::max<milliseconds::rep>(0, left.count())));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return std::nullopt;
    News news;
    const ssize_t count = read(control_, &news, sizeof news);
    if (count < 0 && errno == EINTR) continue;
    status_ = count == sizeof news && news.kind == News::kEnded ? news.value : SIGKILL;
    Reap();
  }
  return status_;
}

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
  std::optional<std::chrono::steady_clock::time_point> asked_to_end, killed, over;
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
    if (!over && child.Wait(milliseconds(0))) over = std::chrono::steady_clock::now();
    const int ready = poll(descriptors.data(), descriptors.size(), over ? 0 : kTick.count());
    if (ready < 0 && errno != EINTR)
      return Error{fmt::format("{}: waiting for it failed: {}", program, std::strerror(errno))};
    // What was written before the end is read. An orphan of a watcher that was killed may hold the pipes for ever.
    if (over && (ready == 0 || std::chrono::steady_clock::now() - *over > kGrace)) break;
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
