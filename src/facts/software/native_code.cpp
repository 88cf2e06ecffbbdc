#include "facts/software/native_code.h"

#include <algorithm>
#include <array>
#include <tuple>

#include "base/text.h"

namespace sparkops::facts {

namespace {

constexpr std::size_t k_most_libraries = 20'000;

constexpr std::array<std::string_view, 3> k_of_torch = {"libtorch", "libc10", "libcaffe2"};
constexpr std::array<std::string_view, 13> k_of_cuda = {
    "libcuda.so", "libcudart.",  "libcublas",   "libcudnn",     "libnccl.",   "libnvrtc", "libcufft",
    "libcurand",  "libcusolver", "libcusparse", "libnvJitLink", "libnvshmem", "libcupti"};

template <std::size_t N>
bool needs_any(const ElfImage& image, const std::array<std::string_view, N>& starts) {
  return std::any_of(image.needed.begin(), image.needed.end(), [&](const std::string& soname) {
    return std::any_of(starts.begin(), starts.end(), [&](std::string_view start) { return soname.starts_with(start); });
  });
}

/// torch's own libraries and those of NVIDIA's wheels are built together; what is of interest is whether they are
/// found.
bool is_torch_itself(std::string_view distribution) {
  return distribution == "torch" || distribution == "pytorch";
}
bool is_of_nvidia(std::string_view distribution) {
  return distribution.starts_with("nvidia-");
}

class Reader {
 public:
  Reader(Libraries& libraries, LoaderContext context, NativeCode& result)
      : libraries_(libraries), resolver_(libraries, std::move(context)), result_(result) {}

  LoaderResolver& resolver() { return resolver_; }

  void add(const Distribution& distribution) {
    const auto paths = libraries_.of_distribution(distribution);
    if (!paths) {
      result_.could_not.push_back(distribution.name + ": " + paths.error().message);
      return;
    }
    for (const std::string& path : **paths) {
      if (result_.libraries.size() >= k_most_libraries) return;
      // A file that RECORD lists and that is gone says nothing about the rest.
      if (libraries_.exists(path)) result_.libraries.push_back(look_at(distribution.key, path));
    }
  }

 private:
  NativeLibrary look_at(const std::string& distribution, const std::string& path) {
    NativeLibrary native;
    native.distribution = distribution;
    native.path = path;
    native.resolution = unknown("not asked for: it uses neither torch nor CUDA");
    native.code = unknown("not asked for: it uses neither torch nor CUDA");
    const auto library = libraries_.at(path);
    if (!library) {
      native.machine = unknown(library.error());
      return native;
    }
    const ElfImage& image = (*library)->image;
    native.machine = as_read(to_string(image.machine));
    native.uses_torch = needs_any(image, k_of_torch);
    native.uses_cuda = needs_any(image, k_of_cuda);
    if (!native.uses_torch && !native.uses_cuda) return native;
    const bool compares_symbols = native.uses_torch && !is_torch_itself(distribution) && !is_of_nvidia(distribution);
    const auto resolution = resolver_.resolve(path, compares_symbols ? SymbolCheck::check : SymbolCheck::skip);
    native.resolution =
        resolution ? as_read(LibraryResolution(**resolution)) : Known<LibraryResolution>(unknown(resolution.error()));
    if (is_torch_itself(distribution) || is_of_nvidia(distribution)) {
      native.code = unknown("not asked for: torch's and NVIDIA's own libraries are not listed");
      return native;
    }
    const auto code = libraries_.fat_binary(path);
    native.code = code ? as_read(FatBinary(**code)) : Known<FatBinary>(unknown(code.error()));
    return native;
  }

  Libraries& libraries_;
  LoaderResolver resolver_;
  NativeCode& result_;
};

}  // namespace

std::vector<const NativeLibrary*> NativeCode::of(std::string_view distribution) const {
  std::vector<const NativeLibrary*> found;
  for (const NativeLibrary& library : libraries)
    if (library.distribution == distribution) found.push_back(&library);
  return found;
}

NativeCode read_native_code(Libraries& libraries, const PythonEnvironment& environment,
                            const Known<SoftwareVariables>& variables) {
  NativeCode result;
  LoaderContext context;
  context.program = environment.interpreter;
  if (variables)
    if (const std::string* const path = variables->find("LD_LIBRARY_PATH"))
      context.library_path = split_library_path(*path);
  Reader reader(libraries, std::move(context), result);
  result.machine = reader.resolver().context().machine;
  std::vector<std::string> sites;
  for (const SiteDirectory& site : environment.sites) sites.push_back(site.path);
  for (const std::string& site : sites)
    if (libraries.exists(site + "/torch/lib/libtorch.so") || libraries.exists(site + "/torch/lib/libc10.so")) {
      reader.resolver().load_as_torch_does(site);
      break;  // the first on the path is the one that is imported
    }
  for (const Distribution& distribution : environment.distributions) {
    const bool is_pure = distribution.wheel_platform && *distribution.wheel_platform == "any";
    if (!is_pure) reader.add(distribution);
  }
  result.cuda = read_cuda_runtimes(reader.resolver(), sites);
  std::stable_sort(result.libraries.begin(), result.libraries.end(),
                   [](const NativeLibrary& a, const NativeLibrary& b) {
                     return std::tie(a.distribution, a.path) < std::tie(b.distribution, b.path);
                   });
  return result;
}

}  // namespace sparkops::facts
