// infimum-microbench-fake: the runner of the pretended machine (fake_machine.h), for tests and for trying
// out commands where nothing is to be measured.
#include "infimum/microbench/runner_main.h"
#include "microbench/fake/fake_backend.h"

int main(int argc, char** argv) {
  return infimum::RunnerMain(argc, argv, "fake", [](const infimum::BackendOptions& options) {
    return std::unique_ptr<infimum::Backend>(std::make_unique<infimum::FakeBackend>(options));
  });
}
