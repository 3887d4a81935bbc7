// What a campaign costs beside the measuring: a plan of pretended workloads, which take no real time, run
// by a runner on a pretended device into a journal. Prints the cost of a row; fails above a millisecond of processor
// time (of supervisor and worker together: time by the wall depends on who else is at work), or where supervisor or
// worker take more than 8 MB beyond what listing the plan takes: rows must not stay in memory.
//
//   benchmarks campaign build/bin/infimum-microbench-fake 100000
//   benchmarks campaign build/bin/infimum-microbench-cuda-rehearsal 100000    what it computes on the host is in it too
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/support/benchmark.h"
#include "tests/support/temporary_folder.h"

INFIMUM_BENCHMARK(campaign, "RUNNER ROWS") {
  if (argc != 3) {
    return 2;
  }
  const long rows = std::atol(argv[2]);
  const infimum::testing::TemporaryFolder temporary;
  const std::string folder = temporary.path();
  std::ofstream plan(folder + "/p.plan");
  plan << "# infimum plan 1\n";
  for (long i = 1; i <= rows / 2; ++i)  // each has two candidates or more
    plan << "uses=1 share=0 contract=strict-f32 pointwise kind=relu dtype=f32:-:f32 in=" << i + 63 << "\n";
  plan.close();
  const auto megabytes = [](const rusage& usage) { return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6; };
  if (std::system((std::string(argv[1]) + " " + folder + "/p.plan --list > /dev/null").c_str()) != 0) return 1;
  rusage listing{};
  getrusage(RUSAGE_CHILDREN, &listing);
  const std::string command = std::string(argv[1]) + " " + folder + "/p.plan -o " + folder + "/r.jsonl --quiet";
  const auto start = std::chrono::steady_clock::now();
  const int status = std::system(command.c_str());
  const std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  const auto bytes = std::filesystem::file_size(folder + "/r.jsonl");
  long written = 0;
  std::ifstream journal(folder + "/r.jsonl");
  for (std::string line; std::getline(journal, line);)
    written += line.find("\"kind\":\"measurement\"") != std::string::npos ? 1 : 0;
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  const auto milliseconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3;
  };
  const double total = milliseconds(usage.ru_utime) + milliseconds(usage.ru_stime) - milliseconds(listing.ru_utime) -
                       milliseconds(listing.ru_stime);
  const double each = total / static_cast<double>(written);
  // Of the larger one: supervisor or worker.
  const double memory = megabytes(usage);
  std::printf(
      "%ld rows in %.0f ms: %.3f ms of processor time and %.0f bytes a row, %.1f MB of memory (listing: %.1f)\n",
      written, elapsed.count(), each, static_cast<double>(bytes) / static_cast<double>(written), memory,
      megabytes(listing));
  return status == 0 && each < 1.0 && memory < megabytes(listing) + 8 ? 0 : 1;
}
