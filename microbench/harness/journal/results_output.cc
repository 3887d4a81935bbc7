#include "microbench/harness/journal/results_output.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <utility>

namespace infimum {
namespace {

class GoogleBenchmarkOutput : public ResultsOutput {
 public:
  explicit GoogleBenchmarkOutput(std::string path) : path_(std::move(path)) {}

  Status Open() {
    if (path_ == "-") return {};
    file_ = std::fopen(Partial().c_str(), "w");
    if (file_ == nullptr) return Failed("cannot be written");
    return {};
  }

  ~GoogleBenchmarkOutput() override {
    if (file_ != nullptr) {
      std::fclose(file_);
      std::remove(Partial().c_str());
    }
  }

  Result<EarlierResults> Begin(const ResultsHeader& header) override {
    records_.emplace_back(header);
    return EarlierResults{};
  }

  // Of rows written again with more repetitions the last one stays.
  Status Write(const ResultsRecord& record) override {
    const auto* row = std::get_if<Measurement>(&record);
    const auto [place, inserted] =
        row == nullptr ? std::pair(places_.end(), true) : places_.emplace(RowKey(*row), records_.size());
    if (inserted) {
      records_.push_back(record);
    } else {
      records_[place->second] = record;
    }
    return {};
  }

  Status Finish() override {
    const std::string text = FormatGoogleBenchmark(records_);
    std::FILE* file = path_ == "-" ? stdout : file_;
    if (std::fwrite(text.data(), 1, text.size(), file) != text.size() || std::fflush(file) != 0)
      return Failed("writing failed");
    if (path_ == "-") return {};
    const bool closed = std::fclose(std::exchange(file_, nullptr)) == 0;
    if (!closed || std::rename(Partial().c_str(), path_.c_str()) != 0) return Failed("writing failed");
    return {};
  }

 private:
  std::string Partial() const { return path_ + ".part"; }
  Error Failed(const char* what) const {
    return Error{(path_ == "-" ? std::string("standard output") : path_) + ": " + what + ": " + std::strerror(errno)};
  }

  std::string path_;
  std::FILE* file_ = nullptr;
  std::vector<ResultsRecord> records_;
  std::map<std::string, std::size_t> places_;
};

}  // namespace

Result<std::unique_ptr<ResultsOutput>> OpenGoogleBenchmark(const std::string& path) {
  auto output = std::make_unique<GoogleBenchmarkOutput>(path);
  INFIMUM_RETURN_IF_ERROR(output->Open());
  return std::unique_ptr<ResultsOutput>(std::move(output));
}

}  // namespace infimum
