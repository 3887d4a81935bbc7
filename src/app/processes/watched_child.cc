#include "src/app/processes/watched_child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "infimum/base/process.h"
#include "src/app/processes/side_process.h"

namespace infimum {
namespace {

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

}  // namespace

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

}  // namespace infimum
