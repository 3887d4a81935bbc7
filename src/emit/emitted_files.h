// The files under emitted/, which go into every project as they are: embedded at build time (embed.cmake writes the
// definitions).
#pragma once

#include <string_view>

namespace infimum::emit {

std::string_view Timing();
std::string_view OneDnnMain();
std::string_view OneDnnCandidatesHeader();
std::string_view OneDnnCandidates();
std::string_view OneDnnLayouts();
std::string_view OneDnnMemory();
std::string_view CudaMain();
std::string_view CudaMemory();
std::string_view CudaProgram();
std::string_view CudaTiming();
std::string_view CudnnCandidatesHeader();
std::string_view CudnnCandidates();
std::string_view CudnnPlansHeader();
std::string_view CudnnPlans();
std::string_view CublasLtCandidatesHeader();
std::string_view CublasLtCandidates();
std::string_view CublasLtAlgorithmsHeader();
std::string_view CublasLtAlgorithms();

}  // namespace infimum::emit
