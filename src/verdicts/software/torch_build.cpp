#include "verdicts/software/torch_build.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"
#include "facts/software/version.h"

namespace sparkops::verdicts {

namespace {

using Kind = CudaBuild::Kind;

constexpr int k_ngc_cuda_major = 13;  // every image since 25.08; older ones do not run on this machine

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

bool is_older(const std::string& version, const std::string& bound) {
  const auto have = facts::parse_version(version), before = facts::parse_version(bound);
  return have && before && have->base() < before->base();
}

CudaBuild built_for(CudaVersion version, Provenance provenance, std::string how) {
  return {Kind::cuda, version, false, std::move(provenance), std::move(how)};
}
CudaBuild without_cuda(Provenance provenance, std::string how) {
  return {Kind::cpu_only, std::nullopt, false, std::move(provenance), std::move(how)};
}

/// By what stands in the version and the index alone.
std::optional<CudaBuild> build_of_tag(const facts::Distribution& distribution) {
  const Provenance read{Origin::read, {}};
  const std::string version = distribution.version.value_or("");
  // PEP 440: local versions do not tell case apart.
  const std::string local =
      version.find('+') == std::string::npos ? "" : to_lower(version.substr(version.find('+') + 1));
  if (local == "cpu" || local.starts_with("cpu.")) return without_cuda(read, "its version says +cpu");
  if (is_ngc_version(version)) {
    const auto tag = cuda_of_tag(local);
    return CudaBuild{Kind::cuda, tag.value_or(CudaVersion{k_ngc_cuda_major, 0}), true, read,
                     "a build of NVIDIA's images"};
  }
  if (const auto tag = cuda_of_tag(local)) return built_for(*tag, read, "its version says +" + local);
  if (local.starts_with("cu"))
    return CudaBuild{
        CudaBuild::Kind::unknown, {}, false, read, "its version says +" + local + ", which is no CUDA version"};
  if (const std::size_t at = distribution.index.rfind("/whl/"); at != std::string::npos) {
    const std::string index = distribution.index.substr(at);
    if (const auto tag = cuda_of_tag(index)) return built_for(*tag, read, "it comes from the index " + index.substr(5));
    if (index.starts_with("/whl/cpu")) return without_cuda(read, "it comes from the index cpu");
  }
  const std::string& build = distribution.conda_build;
  if (build.starts_with("cpu")) return without_cuda(read, "conda's build is " + build);
  if (const std::size_t at = build.find("cuda"); at != std::string::npos) {
    const std::string digits = build.substr(at + 4);
    const auto dotted = parse_cuda_version(digits);
    const auto tag = dotted ? dotted : cuda_of_tag("cu" + digits);
    if (tag) return built_for(*tag, read, "conda's build is " + build);
  }
  return std::nullopt;
}

const knowledge::WheelCuda* published(const facts::Distribution& distribution, const knowledge::Tables& tables) {
  for (const auto& entry : tables.wheels())
    if (facts::normalized_name(entry.name) == distribution.key) return &entry;
  return nullptr;
}

/// By what is published of the wheels on PyPI.
CudaBuild build_of_pypi(const facts::Distribution& distribution, const knowledge::Tables& tables) {
  const knowledge::WheelCuda* const entry = published(distribution, tables);
  if (entry == nullptr || !distribution.version) return {};
  const Provenance known{Origin::knowledge, entry->last_verified};
  const auto before = [&](const std::string& bound) {
    return !bound.empty() && is_older(*distribution.version, bound);
  };
  if (before(entry->cpu_only_before))
    return without_cuda(known, fmt::format("wheels of {} on PyPI for aarch64 before {} have no CUDA", entry->name,
                                           entry->cpu_only_before));
  if (before(entry->cuda_12_before))
    return built_for(
        {12, 0}, known,
        fmt::format("wheels of {} on PyPI before {} are linked against CUDA 12", entry->name, entry->cuda_12_before));
  if (!entry->cuda_13_from.empty() && !before(entry->cuda_13_from))
    return built_for({13, 0}, known,
                     fmt::format("wheels of {} on PyPI from {} are for CUDA 13", entry->name, entry->cuda_13_from));
  return {};
}

/// The majors of the runtimes that stand beside torch as packages.
std::optional<int> only_runtime_major(const facts::PythonEnvironment& environment) {
  std::optional<int> major;
  for (const facts::Distribution& distribution : environment.distributions) {
    const bool is_runtime =
        distribution.key.starts_with("nvidia-cuda-runtime") || distribution.key.starts_with("nvidia-cublas");
    const auto of = is_runtime ? cuda_major_of_library_package(distribution) : std::nullopt;
    if (!of) continue;
    if (major && *major != *of) return std::nullopt;
    major = of;
  }
  return major;
}

}  // namespace

std::string to_string(const CudaVersion& version) {
  return fmt::format("{}.{}", version.major, version.minor);
}

std::optional<CudaVersion> parse_cuda_version(std::string_view text) {
  const auto parts = split(trim(text), '.');
  if (parts.size() < 2) return std::nullopt;
  std::string_view minor_text = parts[1];
  std::size_t digits = 0;
  while (digits < minor_text.size() && is_digit(minor_text[digits])) ++digits;
  const auto major = parse_integer(parts[0]), minor = parse_integer(minor_text.substr(0, digits));
  constexpr std::int64_t k_largest = 99;
  if (!major || !minor || *major < 1 || *major > k_largest || *minor < 0 || *minor > k_largest) return std::nullopt;
  return CudaVersion{static_cast<int>(*major), static_cast<int>(*minor)};
}

std::optional<CudaVersion> cuda_of_tag(std::string_view text) {
  for (std::size_t at = text.find("cu"); at != std::string_view::npos; at = text.find("cu", at + 1)) {
    if (at > 0 && std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0) continue;
    std::string_view digits = text.substr(at + 2);
    if (digits.starts_with("da")) digits.remove_prefix(2);
    std::size_t length = 0;
    while (length < digits.size() && is_digit(digits[length])) ++length;
    if (length < 2 || length > 4) continue;
    // "cu12torch2.9" goes on, "cu13x" is a typing error.
    const std::string_view rest = digits.substr(length);
    if (!rest.empty() && std::isalpha(static_cast<unsigned char>(rest[0])) != 0 && !rest.starts_with("torch")) continue;
    const int major = (digits[0] - '0') * 10 + (digits[1] - '0');
    const auto minor = length == 2 ? std::optional<std::int64_t>(0) : parse_integer(digits.substr(2, length - 2));
    constexpr int k_oldest = 10, k_newest = 19;
    if (major >= k_oldest && major <= k_newest && minor) return CudaVersion{major, static_cast<int>(*minor)};
  }
  return std::nullopt;
}

bool is_ngc_version(std::string_view version) {
  const std::size_t plus = version.find('+');
  if (plus == std::string_view::npos) return false;
  for (const std::string_view part : split(version.substr(plus + 1), '.'))
    if (part.size() > 3 && part.starts_with("nv") && is_digit(part[2]) && is_digit(part[3])) return true;
  return false;
}

std::optional<int> cuda_major_of_library_package(const facts::Distribution& distribution) {
  if (!distribution.key.starts_with("nvidia-")) return std::nullopt;
  if (distribution.key.ends_with("-cu11")) return 11;
  if (distribution.key.ends_with("-cu12")) return 12;
  if (distribution.key.ends_with("-cu13")) return 13;
  // Without a suffix they are the ones of CUDA 13; the numbers of these follow the toolkit's.
  static constexpr std::array<std::string_view, 6> k_numbered{"nvidia-cuda-runtime", "nvidia-cuda-nvrtc",
                                                              "nvidia-cublas",       "nvidia-cuda-cupti",
                                                              "nvidia-nvjitlink",    "nvidia-nvtx"};
  if (std::find(k_numbered.begin(), k_numbered.end(), distribution.key) == k_numbered.end()) return std::nullopt;
  const auto version = facts::parse_version(distribution.version.value_or(""));
  return version && version->release.front() < 100 ? std::optional(static_cast<int>(version->release.front()))
                                                   : std::nullopt;
}

CudaBuild wheel_build(const facts::Distribution& distribution, const knowledge::Tables& tables) {
  if (auto tagged = build_of_tag(distribution)) return std::move(*tagged);
  return build_of_pypi(distribution, tables);
}

std::optional<std::string> torch_version(const facts::PythonEnvironment& environment) {
  if (!environment.torch.empty() && environment.torch.front().version) return *environment.torch.front().version;
  if (const facts::Distribution* const torch = environment.find("torch")) return torch->version.value_or("");
  return environment.torch.empty() ? std::nullopt : std::optional<std::string>("");
}

std::optional<CudaBuild> torch_build(const facts::Software& software, const knowledge::Tables& tables) {
  const facts::PythonEnvironment* const environment = software.environment();
  if (environment == nullptr || !torch_version(*environment)) return std::nullopt;
  const facts::Distribution* const torch = environment->find("torch");
  const Provenance read{Origin::read, {}};
  if (!environment->torch.empty() && environment->torch.front().cuda) {
    const facts::TorchBuild& copy = environment->torch.front();
    const std::string file = copy.directory + "/version.py";
    if (copy.cuda->empty()) return without_cuda(read, file + " names no CUDA");
    CudaBuild build =
        built_for(parse_cuda_version(*copy.cuda).value_or(CudaVersion{}), read, file + " says " + *copy.cuda);
    if (build.version->major == 0) build.version.reset();
    build.is_ngc = is_ngc_version(copy.version.value_or(""));
    return build;
  }
  if (torch == nullptr) return CudaBuild{};
  if (auto tagged = build_of_tag(*torch)) return tagged;
  if (const auto& said = software.machine.torch_cuda; said) {
    if (said->empty()) return without_cuda(read, "collect_env says that torch was built without CUDA");
    if (const auto version = parse_cuda_version(*said))
      return built_for(*version, read, "collect_env says CUDA " + *said);
  }
  if (const auto major = only_runtime_major(*environment))
    return built_for({*major, 0}, {Origin::derived, {}},
                     fmt::format("the CUDA packages beside it are for CUDA {}", *major));
  return build_of_pypi(*torch, tables);
}

}  // namespace sparkops::verdicts
