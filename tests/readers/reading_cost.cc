#include "tests/readers/reading_cost.h"

#include <simdjson.h>
#include <sys/resource.h>

#include <ctime>
#include <string_view>

namespace infimum {

double ProcessorSeconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

namespace {

double MostResidentMegabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

const double kAtStart = MostResidentMegabytes();

}  // namespace

double PeakMegabytes() { return MostResidentMegabytes() - kAtStart; }

double SecondsOfPlainPass(const std::string& path) {
  const double begin = ProcessorSeconds();
  simdjson::padded_string text;
  if (simdjson::padded_string::load(path).get(text) != simdjson::SUCCESS) return 0;
  simdjson::ondemand::parser parser;
  simdjson::ondemand::document document;
  std::string_view whole;
  if (parser.iterate(text).get(document) != simdjson::SUCCESS) return 0;
  if (document.raw_json().get(whole) != simdjson::SUCCESS) return 0;
  return ProcessorSeconds() - begin;
}

}  // namespace infimum
