#include "verdicts/software/library_problems.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "verdicts/sm121_code.h"
#include "verdicts/software/repair.h"

namespace sparkops::verdicts {

namespace {

constexpr const char* k_verify = "sparkops preflight --only G1";

Evidence read_evidence(std::string text) {
  return {std::move(text), {Origin::read, {}}};
}

Fix environment_fix(std::string run, std::string instruction) {
  return {.run = std::move(run),
          .instruction = std::move(instruction),
          .needs_root = false,
          .changes = "the Python environment",
          .verify = k_verify};
}

/// Libraries of CUDA and torch: without them nothing of the package works on the GPU. libcuda itself is the driver's.
bool is_essential(std::string_view soname) {
  static constexpr std::array<std::string_view, 14> k_starts{
      "libcudart", "libcublas", "libcudnn",     "libnvrtc", "libcufft", "libcusparse", "libcusolver",
      "libcurand", "libnccl",   "libnvJitLink", "libcupti", "libtorch", "libc10",      "libnvToolsExt"};
  return std::any_of(k_starts.begin(), k_starts.end(),
                     [&](std::string_view start) { return soname.starts_with(start); });
}

/// Names of torch and CUDA in an undefined symbol.
bool is_of_torch_or_cuda(std::string_view symbol) {
  for (const char* const part : {"c10::", "at::", "torch::", "caffe2::", "cuda", "cublas", "cudnn", "nccl", "nvrtc"})
    if (symbol.starts_with(part) || contains(symbol, std::string(" ") + part) ||
        contains(symbol, std::string("<") + part))
      return true;
  return contains(symbol, "c10::") || contains(symbol, "at::Tensor") || contains(symbol, "torch::");
}

/// One distribution with its libraries.
struct Package {
  std::string key;
  std::string words;  ///< "flash-attn 2.8.3"
  std::vector<const facts::NativeLibrary*> libraries;

  [[nodiscard]] bool uses_torch() const {
    return key == "torch" ||
           std::any_of(libraries.begin(), libraries.end(), [](const auto* library) { return library->uses_torch; });
  }
};

std::string file_name(const std::string& path) {
  return printable(path.substr(path.rfind('/') + 1), 120);
}

/// bitsandbytes carries a library for each CUDA version and loads one: "libbitsandbytes_cuda130.so".
bool is_variant_of_another_cuda(const facts::NativeLibrary& library) {
  const std::string name = file_name(library.path);
  if (!name.starts_with("libbitsandbytes_")) return false;
  return !contains(name, "_cuda13");
}

Package package_of(const facts::Software& software, const facts::NativeCode& native, std::string_view key) {
  Package package{std::string(key), std::string(key), native.of(key)};
  if (const facts::Distribution* const distribution = software.environment()->find(key))
    package.words = printable(distribution->name + " " + distribution->version.value_or("(version unknown)"), 120);
  return package;
}

std::string torch_words(const facts::Software& software) {
  return "torch " + printable(torch_version(*software.environment()).value_or(""), 60);
}

/// How a package that does not fit this torch is repaired.
Fix rebuild_fix(const facts::Software& software, const Package& package) {
  if (package.key == "torch")
    return environment_fix(
        install_command(software, {"--force-reinstall", "torch"}, WithDependencies::yes, k_cuda_13_index),
        "brings torch's own CUDA libraries along" + caution(software));
  return environment_fix(
      install_command(software, {"--force-reinstall", package.key}, WithDependencies::no),
      "a wheel for this torch and CUDA 13, where there is one; else build it (TORCH_CUDA_ARCH_LIST=12.0, "
      "--no-build-isolation) or use a container that has it (sparkops setup)" +
          caution(software));
}

std::optional<PackageProblem> wrong_machine(const facts::Software& software, const facts::NativeCode& native,
                                            const Package& package) {
  const std::string own = facts::to_string(native.machine);
  const facts::NativeLibrary* wrong = nullptr;
  for (const facts::NativeLibrary* const library : package.libraries) {
    if (!library->machine) continue;
    if (*library->machine == own) return std::nullopt;  // some carry a library for each processor and load one
    if (wrong == nullptr) wrong = library;
  }
  if (wrong == nullptr || native.machine == facts::ElfMachine::none) return std::nullopt;
  PackageProblem problem;
  problem.status = Status::fail;
  problem.headline = fmt::format("{} is built for {} and this Python is {} ({})", package.words, *wrong->machine, own,
                                 file_name(wrong->path));
  problem.evidence.push_back(read_evidence(printable(wrong->path, 300) + " is for " + *wrong->machine));
  problem.fixes.push_back(
      environment_fix(install_command(software, {"--force-reinstall", package.key}, WithDependencies::no),
                      "installed by the Python of this machine, not copied from another one" + caution(software)));
  return problem;
}

std::string words_of(const facts::ResolvedNeed& need) {
  std::string text = fmt::format("{} needs {}, which is ", file_name(need.needed_by), printable(need.soname, 100));
  switch (need.status) {
    case facts::NeedStatus::wrong_machine: return text + "only there for another processor (" + need.path + ")";
    case facts::NeedStatus::unreadable: return text + "unreadable (" + printable(need.reason, 150) + ")";
    default: break;
  }
  return text + "not found" + (need.other_version.empty() ? "" : " (there is " + need.other_version + ")");
}

std::optional<PackageProblem> missing_libraries(const facts::Software& software, const Package& package) {
  if (!package.uses_torch()) return std::nullopt;  // it may load its libraries itself
  const facts::ResolvedNeed* first = nullptr;
  PackageProblem problem;
  std::set<std::string> told;
  for (const facts::NativeLibrary* const library : package.libraries) {
    if (!library->resolution || is_variant_of_another_cuda(*library)) continue;
    for (const facts::ResolvedNeed& need : library->resolution->needs) {
      if (need.status == facts::NeedStatus::found || !is_essential(need.soname)) continue;
      if (first == nullptr) first = &need;
      if (told.insert(need.needed_by + need.soname).second) problem.evidence.push_back(read_evidence(words_of(need)));
    }
  }
  if (first == nullptr) return std::nullopt;
  problem.status = Status::fail;
  problem.headline = fmt::format("{}: {}", package.words, words_of(*first));
  problem.fixes.push_back(rebuild_fix(software, package));
  return problem;
}

std::optional<PackageProblem> undefined_symbols(const facts::Software& software, const Package& package) {
  for (const facts::NativeLibrary* const library : package.libraries) {
    if (!library->resolution || !library->resolution->symbols_certain || library->resolution->undefined.empty())
      continue;
    std::vector<std::string> names;
    for (const facts::UndefinedSymbol& symbol : library->resolution->undefined)
      names.push_back(printable(facts::demangled(symbol.name), 300));
    const auto of_torch = std::find_if(names.begin(), names.end(), is_of_torch_or_cuda);
    const std::string& symbol = of_torch == names.end() ? names.front() : *of_torch;
    PackageProblem problem;
    problem.status = of_torch == names.end() ? Status::warn : Status::fail;
    problem.headline = fmt::format("{} does not fit {}: undefined symbol {} in {}", package.words,
                                   torch_words(software), printable(symbol, 120), file_name(library->path));
    problem.evidence.push_back(read_evidence(printable(library->path, 300)));
    constexpr std::size_t k_most_symbols = 20;
    for (std::size_t i = 0; i < std::min(names.size(), k_most_symbols); ++i)
      problem.evidence.push_back(read_evidence("undefined: " + names[i]));
    problem.fixes.push_back(rebuild_fix(software, package));
    return problem;
  }
  return std::nullopt;
}

/// An extension whose kernels run on other GPUs only.
std::optional<PackageProblem> code_for_other_gpus(const Package& package, const Known<int>& cuda_of_driver) {
  if (!package.uses_torch() || package.key == "torch") return std::nullopt;
  bool any_runs = false;
  const facts::NativeLibrary* broken = nullptr;
  std::string sentence;
  for (const facts::NativeLibrary* const library : package.libraries) {
    if (!library->code || is_variant_of_another_cuda(*library)) continue;
    const Sm121Code code = judge_sm121_code(*library->code, cuda_of_driver);
    if (!code.has_code) continue;
    const bool runs = code.best == RunsOn::natively || code.best == RunsOn::by_compiling || code.best == RunsOn::untold;
    any_runs = any_runs || runs;
    if (runs || broken != nullptr) continue;
    broken = library;
    sentence = code.sentence;
  }
  if (broken == nullptr) return std::nullopt;
  PackageProblem problem;
  problem.status =
      any_runs ? Status::info : Status::fail;  // kernels for other GPUs in libraries of their own are usual
  problem.headline = fmt::format("{} holds no code that runs on this GPU (12.1): {} in {}", package.words, sentence,
                                 file_name(broken->path));
  problem.evidence.push_back(read_evidence(fmt::format("{}: {}", printable(broken->path, 300), sentence)));
  problem.fixes.push_back(
      environment_fix("", "build " + package.key +
                              " with TORCH_CUDA_ARCH_LIST=12.0 (its code runs on 12.1; 12.0a runs on 12.0 "
                              "alone), or use a container that has it (sparkops setup)"));
  return problem;
}

}  // namespace

std::vector<PackageProblem> problems_of_distribution(const facts::Software& software, const facts::NativeCode& native,
                                                     std::string_view key, const Known<int>& cuda_of_driver) {
  const Package package = package_of(software, native, key);
  std::vector<PackageProblem> problems;
  if (auto problem = wrong_machine(software, native, package)) return {std::move(*problem)};
  if (auto problem = missing_libraries(software, package)) problems.push_back(std::move(*problem));
  if (auto problem = undefined_symbols(software, package)) problems.push_back(std::move(*problem));
  if (auto problem = code_for_other_gpus(package, cuda_of_driver)) problems.push_back(std::move(*problem));
  return problems;
}

std::vector<PackageProblem> library_problems(const facts::Software& software, const facts::NativeCode& native,
                                             const Known<int>& cuda_of_driver) {
  std::vector<PackageProblem> problems;
  std::string last;
  for (const facts::NativeLibrary& library : native.libraries) {
    // Sorted by distribution. flash-attn is G2's business: nothing needs it.
    if (library.distribution == last || library.distribution == "flash-attn") continue;
    last = library.distribution;
    for (PackageProblem& problem : problems_of_distribution(software, native, last, cuda_of_driver))
      problems.push_back(std::move(problem));
  }
  return problems;
}

std::vector<PackageProblem> leftover_runtimes(const facts::NativeCode& native, const CudaBuild& torch) {
  if (!torch.version) return {};
  const auto majors = native.cuda.majors(facts::CudaLibrary::cudart, facts::CudaPlace::loader);
  const auto older =
      std::find_if(majors.begin(), majors.end(), [&](int major) { return major < torch.version->major; });
  if (older == majors.end()) return {};
  PackageProblem problem;
  problem.headline = fmt::format("the loader finds a left-over libcudart.so.{} beside torch's CUDA {}", *older,
                                 to_string(*torch.version));
  for (const facts::CudaLibraryFile& file : native.cuda.files)
    if (file.library == facts::CudaLibrary::cudart)
      problem.evidence.push_back(read_evidence(printable(fmt::format("{} at {}", file.soname, file.path), 300)));
  problem.fixes.push_back({.run = fmt::format("ldconfig -p | grep libcudart.so.{}", *older),
                           .instruction =
                               "shows where it lies; take that toolkit away, or leave it out of LD_LIBRARY_PATH "
                               "and /etc/ld.so.conf.d",
                           .needs_root = true,
                           .changes = "nothing",
                           .verify = k_verify});
  return {problem};
}

}  // namespace sparkops::verdicts
