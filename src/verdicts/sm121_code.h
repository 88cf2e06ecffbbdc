#pragma once

#include <string>
#include <vector>

#include "base/known.h"
#include "facts/software/fat_binary.h"
#include "facts/software/inspected_file.h"

namespace sparkops::verdicts {

/// Whether a code object runs on compute capability 12.1, the GB10's.
enum class RunsOn {
  natively,            ///< machine code for it
  by_compiling,        ///< PTX that the driver compiles at the first start (kept in ~/.nv/ComputeCache)
  needs_newer_driver,  ///< PTX of a newer ISA than the driver's compiler reads
  not_at_all,
  untold,  ///< the file does not tell (the letter of a cubin made by CUDA 13)
};

/// "native", "compiled", "needs-newer-driver", "no", "untold", as JSON has them.
[[nodiscard]] std::string_view to_string(RunsOn runs);

/// The CUDA release that a PTX ISA version came with, as 1000·major + 10·minor (CUDA's own form: 13010 is 13.1). From
/// the release table of the PTX ISA documentation; unknown for others.
[[nodiscard]] Known<int> cuda_of_ptx(int isa_major, int isa_minor);

/// "13.1" of 13010.
[[nodiscard]] std::string cuda_version_text(int cuda_version);

/// CUDA's documented rules. Machine code runs on the same major architecture and a minor one that is not older than its
/// own; with the letter a on its own architecture alone; with the letter f within its family (12.x). PTX is compiled
/// for anything newer; with a letter it follows the rule of that letter. `driver_cuda`: the driver's CUDA, as above;
/// where it is unknown PTX counts as compilable.
[[nodiscard]] RunsOn runs_on_sm121(const facts::CodeTarget& target, int isa_major, int isa_minor,
                                   const Known<int>& driver_cuda);

/// What the code of one library comes to on a GB10.
struct Sm121Code {
  bool loadable = true;  ///< false: the file around the code is for another processor than aarch64
  RunsOn best = RunsOn::not_at_all;
  bool has_code = false;               ///< besides link stubs
  std::vector<std::string> native;     ///< targets, sorted: "sm_120", "sm_121a"
  std::vector<std::string> compiled;   ///< PTX targets that the driver would compile
  std::vector<std::string> others;     ///< targets that do not run, LTO-IR too
  std::vector<std::string> newer_ptx;  ///< PTX beyond the driver, with the CUDA it needs: "compute_120 (CUDA 13.1)"
  /// Code that may use the FP4 conversion instructions: compiled for 12.1a, or for the family (12.0f, 12.1f).
  std::vector<std::string> with_fp4_conversion;
  std::string sentence;  ///< "runs natively (sm_120, sm_121)"
};

/// Link stubs and code that awaits device linking (__nv_relfatbin, unless there is nothing else) do not count.
[[nodiscard]] Sm121Code judge_sm121_code(const facts::FatBinary& code, const Known<int>& driver_cuda);

/// The same of a file that was looked into: a library for x86-64 is of no use there, whatever code it holds.
[[nodiscard]] Sm121Code judge_inspected(const facts::InspectedFile& file, const Known<int>& driver_cuda);

}  // namespace sparkops::verdicts
