// The texts that an export's rows refer to by number (table StringIds), and texts that stand in rows themselves, as
// names of the trace. A text is looked up when it is first referred to, since the table holds whole files too, and
// known by its number after that: no text is hashed for each row.
//
//   NsysNames names(database, timeline.names);
//   work.name = names.Referred(rows, kDemangledName);        // "gemm<float>(float*)"
//   call.name = names.ReferredCall(rows, kNameId);           // "cudaLaunchKernel" of "cudaLaunchKernel_v7000"
//
// Names together take no more than the file does, whose pages could hold one text for many rows.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "src/core/graph/name_table.h"
#include "src/readers/profiles/nsys/nsys_table.h"

namespace infimum::ingest {

// Without the version of CUDA at the end of a call's name: _v3020, _v11060. "cuMemAlloc_v2" is the driver's own name.
std::string_view WithoutCudaVersion(std::string_view call);

class NsysNames {
 public:
  NsysNames(const NsysDatabase& database, NameTable& names) : database_(database), names_(names) {}

  // Of the current row of `rows`, whose reading fails where the name cannot be had: kNoName then.
  NameId Referred(NsysTable& rows, std::size_t column) { return Find(as_written_, rows, column); }
  NameId ReferredCall(NsysTable& rows, std::size_t column) { return Find(calls_, rows, column); }
  NameId TextOf(NsysTable& rows, std::size_t column);

 private:
  // Numbers are mostly small: a list by number, and a map of the rest.
  struct Known {
    std::vector<NameId> dense;
    std::map<std::int64_t, NameId> rest;
  };
  NameId Find(Known& known, NsysTable& rows, std::size_t column);
  NameId LookUp(const Known& known, std::int64_t number, NsysTable& rows, std::size_t column);
  NameId Keep(std::string_view text, NsysTable& rows, std::size_t column);

  const NsysDatabase& database_;
  NameTable& names_;
  Known as_written_, calls_;
  SqliteStatement look_up_;
  std::uint64_t kept_bytes_ = 0;
};

}  // namespace infimum::ingest
