#include "microbench/kernels/cpu/vector/cpu_features.h"

#include <cpuid.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <vector>

namespace infimum::cpu {
namespace {

struct Registers {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Registers Cpuid(unsigned leaf, unsigned subleaf = 0) {
  Registers r;
  const unsigned highest = __get_cpuid_max(leaf & 0x80000000U, nullptr);
  if (highest < leaf) return {};
  __cpuid_count(leaf, subleaf, r.eax, r.ebx, r.ecx, r.edx);
  return r;
}

bool Bit(unsigned value, int bit) { return ((value >> bit) & 1U) != 0; }

// Which register states the operating system saves; 0 where it does not say.
std::uint64_t EnabledStates() {
  if (!Bit(Cpuid(1).ecx, 27)) return 0;
  unsigned low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<std::uint64_t>(high) << 32) | low;
}

// What registers hold as text, four letters each.
std::string Letters(std::initializer_list<unsigned> registers) {
  std::string letters(4 * registers.size(), '\0');
  std::memcpy(letters.data(), registers.begin(), letters.size());
  return letters;
}

std::string Brand() {
  std::string brand;
  for (unsigned leaf = 0x80000002; leaf <= 0x80000004; ++leaf) {
    const Registers r = Cpuid(leaf);
    brand += Letters({r.eax, r.ebx, r.ecx, r.edx});
  }
  std::erase(brand, '\0');
  const std::size_t first = brand.find_first_not_of(' '), last = brand.find_last_not_of(' ');
  return first == std::string::npos ? "" : brand.substr(first, last - first + 1);
}

// Leaf 4 of Intel and leaf 0x8000001D of AMD describe one cache for each subleaf in the same way.
void ReadCaches(CpuFeatures& features) {
  const unsigned leaf = features.vendor == "AuthenticAMD" ? 0x8000001D : 4;
  for (unsigned i = 0; i < 16; ++i) {
    const Registers r = Cpuid(leaf, i);
    const unsigned type = r.eax & 31U;
    if (type == 0) break;
    if (type == 2) continue;  // instructions
    const std::int64_t ways = (r.ebx >> 22) + 1, partitions = ((r.ebx >> 12) & 1023U) + 1;
    const std::int64_t line = (r.ebx & 4095U) + 1, sets = static_cast<std::int64_t>(r.ecx) + 1;
    const std::int64_t size = ways * partitions * line * sets;
    const unsigned level = (r.eax >> 5) & 7U;
    if (level == 1) features.l1 = size;
    if (level == 2) features.l2 = size;
    if (level == 3) features.l3 = size;
  }
}

CpuFeatures Read() {
  CpuFeatures features;
  const Registers zero = Cpuid(0);
  features.vendor = Letters({zero.ebx, zero.edx, zero.ecx});
  features.brand = Brand();
  const Registers one = Cpuid(1), seven = Cpuid(7), seven_one = Cpuid(7, 1);
  const unsigned base_family = (one.eax >> 8) & 15U;
  features.family = static_cast<int>(base_family == 15 ? base_family + ((one.eax >> 20) & 255U) : base_family);
  const unsigned extended = base_family == 6 || base_family == 15 ? (one.eax >> 16) & 15U : 0;
  features.model = static_cast<int>((extended << 4) | ((one.eax >> 4) & 15U));
  features.stepping = static_cast<int>(one.eax & 15U);
  const std::uint64_t states = EnabledStates();
  const bool ymm = (states & 6) == 6, zmm = (states & 0xe6) == 0xe6, tiles = (states & 0x60000) == 0x60000;
  features.avx2 =
      ymm && Bit(seven.ebx, 5) && Bit(one.ecx, 12) && Bit(one.ecx, 29) && Bit(seven.ebx, 3) && Bit(seven.ebx, 8);
  features.avx512 = zmm && features.avx2 && Bit(seven.ebx, 16) && Bit(seven.ebx, 30) && Bit(seven.ebx, 28) &&
                    Bit(seven.ebx, 17) && Bit(seven.ebx, 31);
  features.avx512_vnni = features.avx512 && Bit(seven.ecx, 11);
  features.avx512_bf16 = features.avx512 && Bit(seven_one.eax, 5);
  features.avx512_fp16 = features.avx512 && Bit(seven.edx, 23);
  features.avx_vnni = features.avx2 && Bit(seven_one.eax, 4);
  features.amx_tile = tiles && Bit(seven.edx, 24);
  features.amx_int8 = features.amx_tile && Bit(seven.edx, 25);
  features.amx_bf16 = features.amx_tile && Bit(seven.edx, 22);
  ReadCaches(features);
  return features;
}

std::string AmdGeneration(const CpuFeatures& features) {
  const int model = features.model;
  switch (features.family) {
    case 0x17:
      return model == 0x08 || model == 0x18 ? "Zen+" : model < 0x30 ? "Zen" : "Zen 2";
    case 0x18:
      return "Zen";
    case 0x19:
      // The numbers of Genoa, and of the desktop and mobile Zen 4, are between those of Zen 3.
      if ((model >= 0x10 && model <= 0x1f) || (model >= 0x60 && model <= 0x7f) || model >= 0xa0) return "Zen 4";
      return "Zen 3";
    case 0x1a:
      return "Zen 5";
    default:
      return "";
  }
}

std::string IntelGeneration(int model, int stepping) {
  if (model == 0x55) return stepping >= 10 ? "Cooper Lake" : stepping >= 5 ? "Cascade Lake" : "Skylake-X";
  struct Generation {
    const char* name;
    std::vector<int> models;
  };
  static const Generation kGenerations[] = {
      {"Sandy Bridge", {0x2a, 0x2d}},
      {"Ivy Bridge", {0x3a, 0x3e}},
      {"Haswell", {0x3c, 0x3f, 0x45, 0x46}},
      {"Broadwell", {0x3d, 0x47, 0x4f, 0x56}},
      {"Skylake", {0x4e, 0x5e}},
      {"Kaby Lake", {0x8e, 0x9e}},
      {"Comet Lake", {0xa5, 0xa6}},
      {"Ice Lake", {0x6a, 0x6c, 0x7d, 0x7e}},
      {"Rocket Lake", {0xa7}},
      {"Tiger Lake", {0x8c, 0x8d}},
      {"Alder Lake", {0x97, 0x9a, 0xbe}},
      {"Raptor Lake", {0xb7, 0xba, 0xbf}},
      {"Sapphire Rapids", {0x8f}},
      {"Emerald Rapids", {0xcf}},
      {"Granite Rapids", {0xad, 0xae}},
      {"Sierra Forest", {0xaf}},
      {"Meteor Lake", {0xaa, 0xac}},
      {"Lunar Lake", {0xbd}},
      {"Arrow Lake", {0xc5, 0xc6}},
  };
  for (const Generation& generation : kGenerations)
    if (std::ranges::find(generation.models, model) != generation.models.end()) return generation.name;
  return "";
}

}  // namespace

std::string CpuFeatures::InstructionSets() const {
  std::string text;
  const auto add = [&](bool has, const char* name) {
    if (!has) return;
    if (!text.empty()) text += ',';
    text += name;
  };
  add(avx2, "avx2,fma,f16c");
  add(avx_vnni, "avx_vnni");
  add(avx512, "avx512");
  add(avx512_vnni, "avx512_vnni");
  add(avx512_bf16, "avx512_bf16");
  add(avx512_fp16, "avx512_fp16");
  add(amx_tile, "amx_tile");
  add(amx_int8, "amx_int8");
  add(amx_bf16, "amx_bf16");
  return text.empty() ? "sse2" : text;
}

const CpuFeatures& Features() {
  static const CpuFeatures features = Read();
  return features;
}

std::string MicroArchitecture(const CpuFeatures& features) {
  if (features.vendor == "AuthenticAMD" || features.vendor == "HygonGenuine") return AmdGeneration(features);
  if (features.vendor != "GenuineIntel" || features.family != 6) return "";
  const std::string generation = IntelGeneration(features.model, features.stepping);
  // A virtual machine may show a model number of its own choice, but not instructions that are not there.
  const bool has_tiles =
      generation == "Sapphire Rapids" || generation == "Emerald Rapids" || generation == "Granite Rapids";
  return features.amx_tile && !has_tiles ? "Sapphire Rapids or newer" : generation;
}

}  // namespace infimum::cpu
