// How much memory an import takes, whatever the size of the file: generated files of 2 GB, each imported by a process
// of its own, whose peak of resident memory is held against the promised 200 MB.
//
//   benchmarks import_memory [--bytes 2000000000] [sqlite] [postgresql]     default: sqlite
//
// The files: a results journal, Google Benchmark JSON of another program with workloads as labels, and the same
// compressed with gzip. Needs three times their size in the folder for temporary files. Prints a table; ends with 1
// where the promise did not hold.
#include <fmt/format.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "infimum/base/text.h"
#include "infimum/db/store.h"
#include "infimum/results/results_journal.h"
#include "src/readers/read_results.h"
#include "tests/db/postgresql_server.h"
#include "tests/db/store_rows.h"
#include "tests/support/benchmark.h"

namespace infimum {
namespace {

constexpr double kPromisedMegabytes = 200;
constexpr std::int64_t kRowsOfAWorkload = 20;  // candidates of each

[[noreturn]] void Stop(const std::string& message) {
  fmt::print(stderr, "benchmarks import_memory: {}\n", message);
  std::exit(2);
}

// zlib writes what is not to be compressed as well ("wT").
class Writer {
 public:
  Writer(const std::string& path, bool compressed) : file_(gzopen(path.c_str(), compressed ? "wb1" : "wbT")) {
    if (file_ == nullptr) Stop(path + " cannot be written");
    gzbuffer(file_, 1 << 20);
  }
  void Write(const std::string& text) {
    if (gzwrite(file_, text.data(), static_cast<unsigned>(text.size())) != static_cast<int>(text.size()))
      Stop("the file cannot be written: is the disk full?");
    written_ += static_cast<std::int64_t>(text.size());
  }
  void Close() {
    if (gzclose(file_) != Z_OK) Stop("the file cannot be written: is the disk full?");
  }
  std::int64_t written() const { return written_; }

 private:
  gzFile file_;
  std::int64_t written_ = 0;
};

// Each returns the rows that it wrote, all of them different.
std::int64_t WriteJournal(const std::string& path, std::int64_t bytes) {
  Writer writer(path, false);
  ResultsHeader header;
  header.device = testing::MakeDevice();
  header.environment = testing::MakeEnvironment();
  header.backend = "generated";
  writer.Write(FormatRecord(header) + "\n");
  std::int64_t rows = 0;
  for (; writer.written() < bytes; ++rows) {
    Measurement row = testing::MakeRow(1 + rows / kRowsOfAWorkload, {1.0 + static_cast<double>(rows % 977), 2, 3});
    row.candidate.algorithm = fmt::format("implementation_{}", rows % kRowsOfAWorkload);
    writer.Write(FormatRecord(row) + "\n");
  }
  writer.Close();
  return rows;
}

std::int64_t WriteGoogleBenchmark(const std::string& path, std::int64_t bytes, bool compressed) {
  Writer writer(path, compressed);
  writer.Write(
      "{\n  \"context\": {\n    \"date\": \"2026-11-21T10:47:44+00:00\",\n    \"executable\": \"./generated\",\n"
      "    \"num_cpus\": 2,\n    \"mhz_per_cpu\": 2000,\n    \"library_build_type\": \"release\"\n  },\n"
      "  \"benchmarks\": [");
  std::int64_t rows = 0;
  for (; writer.written() < bytes; ++rows) {
    writer.Write(fmt::format(
        "{}\n    {{\n      \"name\": \"BM_relu_{}/real_time\",\n      \"family_index\": 0,\n"
        "      \"run_name\": \"BM_relu_{}/real_time\",\n      \"run_type\": \"iteration\",\n"
        "      \"repetitions\": 1,\n      \"repetition_index\": 0,\n      \"threads\": 1,\n"
        "      \"iterations\": 1000,\n      \"real_time\": {}.5,\n      \"cpu_time\": {}.25,\n"
        "      \"time_unit\": \"ns\",\n      \"label\": \"pointwise kind=relu dtype=f32:-:f32 in={}\"\n    }}",
        rows == 0 ? "" : ",", rows % kRowsOfAWorkload, rows % kRowsOfAWorkload, 1 + rows % 977, 1 + rows % 977,
        1 + rows / kRowsOfAWorkload));
  }
  writer.Write("\n  ]\n}\n");
  writer.Close();
  return rows;
}

// What the process of its own does.
int Import(const std::string& file, const std::string& address) {
  Result<std::unique_ptr<Store>> store = OpenStore(address, OpenMode::kReadWrite);
  if (!store.ok()) Stop(store.error().message);
  const Result<ImportCount> count = ImportFile(file, **store);
  if (!count.ok()) Stop(count.error().message);
  fmt::print("{:>10}", count->added);
  return 0;
}

bool Measure(const std::string& what, const std::string& file, const std::string& address, std::int64_t rows) {
  fmt::print("{:<40} {:>8.0f} ", what, static_cast<double>(std::filesystem::file_size(file)) / 1e6);
  std::fflush(stdout);
  std::string arguments[] = {"benchmarks", "import_memory", "import", file, address};
  char* argv[] = {arguments[0].data(), arguments[1].data(), arguments[2].data(),
                  arguments[3].data(), arguments[4].data(), nullptr};
  const auto start = std::chrono::steady_clock::now();
  pid_t child = 0;
  if (posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, argv, environ) != 0) Stop("cannot start a process");
  int status = 0;
  rusage usage{};
  if (wait4(child, &status, 0, &usage) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
    Stop(fmt::format("the import of {} rows did not work", rows));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const double megabytes = static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
  const bool held = megabytes <= kPromisedMegabytes;
  fmt::print(" {:>8.0f} {:>8.1f}{}\n", seconds, megabytes,
             held ? "" : fmt::format("  over the promised {:.0f}", kPromisedMegabytes));
  return held;
}

bool MeasureAll(const std::vector<std::string>& databases, std::int64_t bytes) {
  fmt::print("{:<40} {:>8}  {:>9} {:>8} {:>8}\n", "", "file, MB", "rows", "s", "peak, MB");
  bool held = true;
  for (const char* const kind : {"journal", "Google Benchmark JSON", "Google Benchmark JSON, gzip"}) {
    const testing::TemporaryFolder folder;
    const std::string file = folder.File("results");
    const bool is_journal = std::string_view(kind) == "journal";
    const bool is_gzip = std::string_view(kind).ends_with("gzip");
    const std::int64_t rows = is_journal ? WriteJournal(file, bytes) : WriteGoogleBenchmark(file, bytes, is_gzip);
    for (const std::string& database : databases) {
      std::string address = folder.File("store.db");
      if (database == "postgresql") {
        testing::PostgreSqlServer* const server = testing::PostgreSqlServer::Get();
        if (server == nullptr) Stop(testing::PostgreSqlServer::WhyNot());
        address = server->NewDatabase();
      }
      held = Measure(fmt::format("{} into {}", kind, database), file, address, rows) && held;
    }
  }
  return held;
}

}  // namespace
}  // namespace infimum

INFIMUM_BENCHMARK(import_memory, "[--bytes N] [sqlite] [postgresql]") {
  if (argc == 4 && std::string_view(argv[1]) == "import") return infimum::Import(argv[2], argv[3]);
  std::int64_t bytes = 2'000'000'000;
  std::vector<std::string> databases;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--bytes" && i + 1 < argc) {
      bytes = infimum::ParseInteger(argv[++i]).value_or(bytes);
    } else if (argument == "sqlite" || argument == "postgresql") {
      databases.emplace_back(argument);
    } else {
      infimum::Stop(fmt::format("'{}' is neither sqlite, postgresql nor --bytes N", argument));
    }
  }
  if (databases.empty()) databases = {"sqlite"};
  return infimum::MeasureAll(databases, bytes) ? 0 : 1;
}
