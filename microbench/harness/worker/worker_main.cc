#include "microbench/harness/worker/worker_main.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <exception>
#include <fstream>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <utility>

#include "infimum/base/text.h"
#include "microbench/harness/worker/worker.h"

namespace infimum {
namespace {

Status WriteAll(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return Error{"the supervisor has exited"};
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

// One line from the pipe, which `rest` keeps beyond it; nullopt at the end.
std::optional<std::string> ReadLine(int descriptor, std::string& rest) {
  std::array<char, 1 << 16> chunk;
  while (true) {
    if (const std::size_t end = rest.find('\n'); end != std::string::npos) {
      std::string line = rest.substr(0, end);
      rest.erase(0, end + 1);
      return line;
    }
    const ssize_t count = read(descriptor, chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    rest.append(chunk.data(), static_cast<std::size_t>(count));
  }
}

// A worker that goes astray takes nothing with it: it leaves no core file, and is the first that the kernel
// ends when memory runs out. (That it dies with its supervisor was arranged before it started.)
void GuardTheMachine(Bytes most_memory, bool limits_address_space) {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  std::ofstream("/proc/self/oom_score_adj") << 1000;
  // Allocations beyond the limit fail as such, an orderly error; the supervisor watches the resident size
  // too, for memory that this limit does not count. Sanitizers reserve terabytes and cannot live with it.
#if !defined(__SANITIZE_ADDRESS__)
  if (most_memory.value > 0 && limits_address_space) {
    const auto bytes = static_cast<rlim_t>(most_memory.value);
    const rlimit data{bytes, bytes};
    setrlimit(RLIMIT_DATA, &data);
  }
#else
  static_cast<void>(most_memory);
  static_cast<void>(limits_address_space);
#endif
}

// The answers' pipe: two threads write whole lines into it.
class AnswerPipe {
 public:
  Status Write(std::string_view line) {
    const std::lock_guard lock(mutex_);
    return WriteAll(kAnswerDescriptor, std::string(line) + '\n');
  }

 private:
  std::mutex mutex_;
};

// Says every second that this process lives, from a thread that keeps off the measured cores where there are
// others. A hung library stops neither; worker_process.h describes what does.
class Heartbeat {
 public:
  Heartbeat(AnswerPipe& pipe, const std::vector<int>& measured)
      : thread_([&pipe, measured](const std::stop_token& stop) { Beat(pipe, measured, stop); }) {}

 private:
  static void Beat(AnswerPipe& pipe, const std::vector<int>& measured, const std::stop_token& stop) {
    cpu_set_t others;
    CPU_ZERO(&others);
    for (int core = 0; core < CPU_SETSIZE; ++core)
      if (std::ranges::find(measured, core) == measured.end()) CPU_SET(static_cast<std::size_t>(core), &others);
    sched_setaffinity(0, sizeof others, &others);  // a courtesy: where there is no other core it fails
    std::mutex mutex;
    std::condition_variable_any ended;
    std::unique_lock lock(mutex);
    while (!ended.wait_for(lock, stop, std::chrono::seconds(1), [&stop] { return stop.stop_requested(); }))
      if (!pipe.Write(kAliveLine).ok()) return;
  }

  std::jthread thread_;
};

}  // namespace

RequestHandler::RequestHandler(BackendOptions options, const BackendFactory& make_backend,
                               std::function<void()> prepared)
    : options_(std::move(options)), make_backend_(make_backend), prepared_(std::move(prepared)) {}

WorkerAnswer RequestHandler::Handle(const WorkerRequest& request) {
  try {
    Result<WorkerAnswer> answer = HandleAll(request);
    return answer.ok() ? *std::move(answer) : answer.error();
  } catch (const std::bad_alloc&) {
    return Error{"out of memory, raise --max-memory"};
  } catch (const std::exception& exception) {
    return Error{"exception " + Quoted(exception.what())};
  }
}

Result<WorkerAnswer> RequestHandler::HandleAll(const WorkerRequest& request) {
  if (!backend_) {
    backend_ = make_backend_(options_);
    if (!backend_) return Error{"the backend could not be created"};
    // A pretended clock is not disturbed by what this machine does.
    const bool real = &backend_->clock() == &SteadyClock();
    if (real) interference_ = std::make_unique<SystemInterference>(options_.cores);
    if (!real) interference_ = std::make_unique<NoInterference>();
  }
  if (std::holds_alternative<DescribeRequest>(request)) {
    INFIMUM_ASSIGN_OR_RETURN(Device device, backend_->DescribeDevice());
    INFIMUM_ASSIGN_OR_RETURN(Environment environment, backend_->DescribeEnvironment());
    return WorkerAnswer(ResultsHeader{std::move(device), std::move(environment), std::string(backend_->name())});
  }
  if (const auto* probes = std::get_if<PeakProbesRequest>(&request))
    return WorkerAnswer(backend_->PeakProbes(probes->whole ? PeakDetail::kWhole : PeakDetail::kFirst));
  if (const auto* peak = std::get_if<PeaksRequest>(&request)) {
    INFIMUM_ASSIGN_OR_RETURN(std::vector<PeakRate> peaks, backend_->MeasurePeaks(peak->probe));
    return WorkerAnswer(std::move(peaks));
  }
  if (const auto* listing = std::get_if<CandidatesRequest>(&request)) {
    INFIMUM_ASSIGN_OR_RETURN(const Workload workload, ParseWorkload(listing->workload));
    INFIMUM_ASSIGN_OR_RETURN(std::vector<Candidate> candidates,
                             backend_->Candidates(workload, listing->contract, listing->tier));
    return WorkerAnswer(std::move(candidates));
  }
  if (!flusher_) {
    const Result<Device> device = backend_->DescribeDevice();
    flusher_ = std::make_unique<CacheFlusher>(device.ok() ? device->last_level_cache : Bytes{});
  }
  if (const auto* replay = std::get_if<ReplayRequest>(&request)) {
    INFIMUM_ASSIGN_OR_RETURN(ReplayResult result, RunReplay(*backend_, *replay, {*interference_, *flusher_}));
    return WorkerAnswer(std::move(result));
  }
  return WorkerAnswer(
      RunTrial(*backend_, std::get<TrialRequest>(request), TrialTools{*interference_, *flusher_, prepared_}));
}

int MetronomeMain(std::string_view threads, const BackendFactory& make_backend) {
  const std::optional<std::int64_t> count = ParseInteger(threads);
  if (!count || *count < 1) {
    std::fprintf(stderr, "infimum: error: --metronome %s: give the number of threads\n", Quoted(threads).c_str());
    return 2;
  }
  BackendOptions options;
  options.threads = *count;
  const std::unique_ptr<Backend> backend = make_backend(options);
  std::string rest;
  while (ReadLine(STDIN_FILENO, rest)) {
    const std::optional<Beat> beat = backend->TakeBeat(true);
    if (!beat) {
      std::fputs("infimum: error: this backend has no metronome\n", stderr);
      return 1;
    }
    std::printf("%.4f %.4f", beat->arithmetic.count(), beat->memory.count());
    if (beat->cache > Latency(0)) std::printf(" %.4f", beat->cache.count());
    std::puts("");
    std::fflush(stdout);
  }
  return 0;
}

int WorkerMain(std::string_view setup, const BackendFactory& make_backend) {
  const Result<WorkerSetup> parsed = ParseSetup(setup);
  if (!parsed.ok() || fcntl(kRequestDescriptor, F_GETFD) < 0 || fcntl(kAnswerDescriptor, F_GETFD) < 0) {
    std::fprintf(stderr, "infimum: error: %s\n",
                 parsed.ok() ? "--worker is for the runner's own use" : parsed.error().message.c_str());
    return 2;
  }
  GuardTheMachine(parsed->most_memory, parsed->limits_address_space);
  AnswerPipe answers;
  const Heartbeat heartbeat(answers, parsed->backend.cores);
  RequestHandler handler(parsed->backend, make_backend,
                         [&answers] { static_cast<void>(answers.Write(kPreparedLine).ok()); });
  std::string rest;
  while (std::optional<std::string> line = ReadLine(kRequestDescriptor, rest)) {
    const Result<WorkerRequest> request = ParseRequest(*line);
    const WorkerAnswer answer = request.ok() ? handler.Handle(*request) : WorkerAnswer(request.error());
    if (!answers.Write(FormatAnswer(answer)).ok()) return 1;
  }
  return 0;
}

}  // namespace infimum
