// The instruction sets that processor and operating system allow, from CPUID and XCR0 alone.
#pragma once

#include <cstdint>
#include <string>

namespace infimum::cpu {

struct CpuFeatures {
  std::string vendor;  // "AuthenticAMD", "GenuineIntel"
  std::string brand;   // marketing name, trimmed
  int family = 0;
  int model = 0;
  int stepping = 0;

  bool avx2 = false;    // with FMA and F16C, as x86-64-v3 has them
  bool avx512 = false;  // F, BW, CD, DQ and VL, as x86-64-v4 has them
  bool avx512_vnni = false;
  bool avx512_bf16 = false;
  bool avx512_fp16 = false;
  bool avx_vnni = false;
  bool amx_tile = false;
  bool amx_int8 = false;
  bool amx_bf16 = false;

  // Bytes; 0 where there is no such level. The data cache for the first.
  std::int64_t l1 = 0, l2 = 0, l3 = 0;

  // "avx2,fma,f16c,avx512,..." in a fixed order.
  std::string InstructionSets() const;
};

const CpuFeatures& Features();

// "Zen 3", "Sapphire Rapids"; empty where the table does not know the model.
std::string MicroArchitecture(const CpuFeatures& features);

}  // namespace infimum::cpu
