#include "verdicts/sm121_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"

namespace sparkops::verdicts {

namespace {

using facts::ArchVariant;
using facts::CodeKind;
using facts::CodeTarget;

// The GB10's compute capability, and the family that the letter f means: 12.x from 12.0 on.
constexpr int k_arch = 121;
constexpr int k_first_of_major = 120;
constexpr std::string_view k_unlinked_section = "__nv_relfatbin";

RunsOn machine_code(const CodeTarget& target) {
  const bool same_major = target.arch >= k_first_of_major && target.arch <= k_arch;
  if (!same_major) return RunsOn::not_at_all;
  if (target.arch == k_arch) return RunsOn::natively;
  switch (target.variant) {
    case ArchVariant::plain:
    case ArchVariant::family: return RunsOn::natively;
    case ArchVariant::specific: return RunsOn::not_at_all;
    case ArchVariant::untold: return RunsOn::untold;
  }
  return RunsOn::untold;
}

bool ptx_fits(const CodeTarget& target) {
  switch (target.variant) {
    case ArchVariant::plain: return target.arch <= k_arch;
    case ArchVariant::family: return target.arch >= k_first_of_major && target.arch <= k_arch;
    case ArchVariant::specific: return target.arch == k_arch;
    case ArchVariant::untold: return false;  // PTX always tells
  }
  return false;
}

/// Blackwell's conversions to and from e2m1x2 exist for the exact architecture and for its family, not for the plain
/// one.
bool may_convert_fp4(const CodeTarget& target) {
  return (target.arch == k_arch && target.variant == ArchVariant::specific) ||
         (target.arch >= k_first_of_major && target.arch <= k_arch && target.variant == ArchVariant::family);
}

std::vector<std::string> sorted(const std::set<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

std::string sentence_of(const Sm121Code& code) {
  if (!code.has_code) return "holds no device code";
  switch (code.best) {
    case RunsOn::natively: return "runs natively (" + join(code.native, ", ") + ")";
    case RunsOn::by_compiling:
      return "holds no machine code for it; the driver compiles its PTX (" + join(code.compiled, ", ") +
             ") at the first start";
    case RunsOn::needs_newer_driver: return "holds only PTX that needs a newer driver: " + join(code.newer_ptx, ", ");
    case RunsOn::untold: return "does not tell for which variant of sm_120 it was compiled";
    case RunsOn::not_at_all: return "does not run: built for " + join(code.others, ", ");
  }
  return "";
}

}  // namespace

std::string_view to_string(RunsOn runs) {
  switch (runs) {
    case RunsOn::natively: return "native";
    case RunsOn::by_compiling: return "compiled";
    case RunsOn::needs_newer_driver: return "needs-newer-driver";
    case RunsOn::not_at_all: return "no";
    case RunsOn::untold: return "untold";
  }
  return "untold";
}

Known<int> cuda_of_ptx(int isa_major, int isa_minor) {
  constexpr const char* k_date = "2026-11-30";
  constexpr int k_major = 1000, k_minor = 10;
  if (isa_major == 9) return as_knowledge(13 * k_major + isa_minor * k_minor, k_date);
  if (isa_major == 7) return as_knowledge(11 * k_major + isa_minor * k_minor, k_date);
  // 8.5 came with CUDA 12.5 and served 12.6 as well; 8.6 came with 12.7.
  if (isa_major == 8)
    return as_knowledge(12 * k_major + (isa_minor <= 5 ? isa_minor : isa_minor + 1) * k_minor, k_date);
  if (isa_major < 7 && isa_major > 0) return as_knowledge(10 * k_major, k_date);
  return unknown(fmt::format("no CUDA release is known for PTX ISA {}.{}", isa_major, isa_minor));
}

std::string cuda_version_text(int cuda_version) {
  return fmt::format("{}.{}", cuda_version / 1000, cuda_version % 1000 / 10);
}

RunsOn runs_on_sm121(const CodeTarget& target, int isa_major, int isa_minor, const Known<int>& driver_cuda) {
  switch (target.kind) {
    case CodeKind::cubin: return machine_code(target);
    case CodeKind::ptx: break;
    case CodeKind::lto_ir: return RunsOn::not_at_all;
    case CodeKind::other: return RunsOn::untold;
  }
  if (!ptx_fits(target)) return RunsOn::not_at_all;
  const Known<int> needed = cuda_of_ptx(isa_major, isa_minor);
  if (needed && driver_cuda && *driver_cuda < *needed) return RunsOn::needs_newer_driver;
  return RunsOn::by_compiling;
}

Sm121Code judge_sm121_code(const facts::FatBinary& code, const Known<int>& driver_cuda) {
  const bool linked_code_exists = std::any_of(
      code.groups.begin(), code.groups.end(),
      [](const facts::CodeGroup& group) { return group.section != k_unlinked_section && group.count > group.stubs; });
  std::set<std::string> native, compiled, others, newer, fp4;
  bool untold = false;
  Sm121Code verdict;
  for (const facts::CodeGroup& group : code.groups) {
    if (group.count == group.stubs || (linked_code_exists && group.section == k_unlinked_section)) continue;
    verdict.has_code = true;
    const std::string name = to_string(group.target);
    const RunsOn runs = runs_on_sm121(group.target, group.isa_major, group.isa_minor, driver_cuda);
    if (runs == RunsOn::natively) native.insert(name);
    if (runs == RunsOn::by_compiling) compiled.insert(name);
    if (runs == RunsOn::not_at_all) others.insert(name);
    if (runs == RunsOn::untold) untold = true;
    if (runs == RunsOn::needs_newer_driver)
      newer.insert(fmt::format("{} (CUDA {})", name,
                               cuda_version_text(cuda_of_ptx(group.isa_major, group.isa_minor).value_or(0))));
    const bool runs_somehow = runs == RunsOn::natively || runs == RunsOn::by_compiling;
    if (runs_somehow && may_convert_fp4(group.target)) fp4.insert(name);
  }
  verdict.native = sorted(native);
  verdict.compiled = sorted(compiled);
  verdict.others = sorted(others);
  verdict.newer_ptx = sorted(newer);
  verdict.with_fp4_conversion = sorted(fp4);
  if (!native.empty())
    verdict.best = RunsOn::natively;
  else if (untold)
    verdict.best = RunsOn::untold;
  else if (!compiled.empty())
    verdict.best = RunsOn::by_compiling;
  else if (!newer.empty())
    verdict.best = RunsOn::needs_newer_driver;
  verdict.sentence = sentence_of(verdict);
  return verdict;
}

Sm121Code judge_inspected(const facts::InspectedFile& file, const Known<int>& driver_cuda) {
  Sm121Code verdict = judge_sm121_code(file.code, driver_cuda);
  verdict.loadable =
      file.kind != facts::InspectedKind::library || !file.image || file.image->machine == facts::ElfMachine::aarch64;
  if (!verdict.loadable)
    verdict.sentence = "cannot be loaded: it is for " + to_string(file.image->machine) +
                       (verdict.has_code ? "; its device code " + verdict.sentence : "");
  return verdict;
}

}  // namespace sparkops::verdicts
