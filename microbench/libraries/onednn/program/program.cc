#include "microbench/libraries/onednn/program/program.h"

namespace infimum::cpu {
namespace {

class FunctionProgram : public Program {
 public:
  FunctionProgram(std::function<void()> run, Bytes footprint) : run_(std::move(run)), footprint_(footprint) {}

  Status Run() override {
    run_();
    return {};
  }
  Bytes footprint() const override { return footprint_; }

 private:
  std::function<void()> run_;
  Bytes footprint_;
};

}  // namespace

std::unique_ptr<Program> MakeProgram(const Problem& problem, std::function<void()> run) {
  return MakeProgram(FootprintOf(problem), std::move(run));
}
std::unique_ptr<Program> MakeProgram(Bytes footprint, std::function<void()> run) {
  return std::make_unique<FunctionProgram>(std::move(run), footprint);
}

Bytes FootprintOf(const Problem& problem) {
  Bytes sum;
  for (const HostTensor* tensor : problem.operands) sum += Bytes{static_cast<std::int64_t>(tensor->bytes())};
  for (const HostTensor* tensor : problem.outputs) sum += Bytes{static_cast<std::int64_t>(tensor->bytes())};
  return sum;
}

}  // namespace infimum::cpu
