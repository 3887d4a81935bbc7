#include "infimum/workflow/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <deque>

#include "infimum/workflow/interrupt.h"

namespace infimum {
namespace {

constexpr std::size_t kMaxLine = std::size_t{64} << 20;
constexpr std::size_t kKeptErrors = 20;
constexpr auto kGrace = std::chrono::seconds(3);

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
    if (pending_.size() > kMaxLine) return Error{"a child printed a line of over 64 MiB"};
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

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Kills the child and collects it on every way out that has not done so.
class ChildGuard {
 public:
  explicit ChildGuard(pid_t pid) : pid_(pid) {}
  ChildGuard(const ChildGuard&) = delete;
  ChildGuard& operator=(const ChildGuard&) = delete;
  ~ChildGuard() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    Wait();
  }
  pid_t pid() const { return pid_; }
  int Wait() {
    int state = 0;
    while (waitpid(pid_, &state, 0) < 0 && errno == EINTR) {
    }
    pid_ = 0;
    return WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
  }

 private:
  pid_t pid_;
};

}  // namespace

Result<ProcessEnd> RunProcess(const ProcessRequest& request, const TakeLine& take_output,
                              const std::function<void(std::string_view)>& take_error,
                              const std::function<Status()>& on_idle) {
  INFIMUM_CHECK(!request.arguments.empty(), "a process needs a program");
  const std::string& program = request.arguments.front();
  // A child that goes away without reading its input must be an error of the write, not the end of this process.
  std::signal(SIGPIPE, SIG_IGN);
  Pipe input, output, errors;
  if (!input.Open() || !output.Open() || !errors.Open()) {
    return Error{fmt::format("{}: no pipe could be made: {}", program, std::strerror(errno))};
  }

  std::vector<std::string> arguments = request.arguments;
  std::vector<std::string> environment = MergedEnvironment(request);
  std::vector<char*> argument_pointers = Pointers(arguments);
  std::vector<char*> environment_pointers = Pointers(environment);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input.end(0), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output.end(1), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.end(1), STDERR_FILENO);
  // Its own process group: a Ctrl-C reaches it only through us, once, and not a second time.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  sigaddset(&defaults, SIGINT);
  sigaddset(&defaults, SIGTERM);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  pid_t pid = 0;
  const int spawn_error =
      posix_spawnp(&pid, program.c_str(), &actions, &attributes, argument_pointers.data(), environment_pointers.data());
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (spawn_error != 0) return Error{fmt::format("{}: cannot be started: {}", program, std::strerror(spawn_error))};
  ChildGuard child(pid);
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
  std::optional<std::chrono::steady_clock::time_point> asked_to_end;
  std::array<char, 1 << 16> bytes;
  if (request.input.empty()) input.Close(1);
  while (output_open || errors_open) {
    std::array<pollfd, 3> descriptors{pollfd{output_open ? output.end(0) : -1, POLLIN, 0},
                                      pollfd{errors_open ? errors.end(0) : -1, POLLIN, 0},
                                      pollfd{input.end(1), POLLOUT, 0}};
    if (poll(descriptors.data(), descriptors.size(), 200) < 0 && errno != EINTR) {
      return Error{fmt::format("{}: waiting for it failed: {}", program, std::strerror(errno))};
    }
    if (Interrupted() && !asked_to_end) {
      kill(-child.pid(), SIGINT);
      asked_to_end = std::chrono::steady_clock::now();
      end.interrupted = true;
    }
    if (asked_to_end && std::chrono::steady_clock::now() - *asked_to_end > kGrace) kill(-child.pid(), SIGKILL);

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
  end.exit_code = child.Wait();
  end.last_errors.assign(last_errors.begin(), last_errors.end());
  return end;
}

}  // namespace infimum
