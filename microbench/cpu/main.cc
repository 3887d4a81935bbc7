// infimum-microbench-onednn: measures layers on the processor that it runs on.
#include <memory>

#include "microbench/cpu/onednn_backend.h"

int main(int argc, char** argv) {
  return infimum::RunnerMain(argc, argv, "onednn", [](const infimum::BackendOptions& options) {
    return std::unique_ptr<infimum::Backend>(std::make_unique<infimum::OneDnnBackend>(options));
  });
}
