#include "facts/software/cuda_runtimes.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <tuple>

#include "base/text.h"

namespace sparkops::facts {

namespace {

struct Name {
  CudaLibrary library;
  std::string_view base;  ///< before ".so"
};
constexpr std::array<Name, 6> k_names{{{CudaLibrary::cudart, "libcudart"},
                                       {CudaLibrary::cuda_driver, "libcuda"},
                                       {CudaLibrary::nvrtc, "libnvrtc"},
                                       {CudaLibrary::cublas, "libcublas"},
                                       {CudaLibrary::cudnn, "libcudnn"},
                                       {CudaLibrary::nccl, "libnccl"}}};

std::optional<CudaLibrary> library_of(std::string_view file_name) {
  for (const auto& [library, base] : k_names)
    if (file_name.starts_with(base) && file_name.substr(base.size()).starts_with(".so")) return library;
  return std::nullopt;
}

std::string_view name_in(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

/// "13.0.96" of "libcudart.so.13.0.96"; empty when nothing follows ".so".
std::string_view version_in(std::string_view file_name) {
  const std::size_t at = file_name.find(".so.");
  return at == std::string_view::npos ? "" : file_name.substr(at + 4);
}

Known<int> major_of(std::string_view soname, std::string_view version) {
  for (const std::string_view text : {version_in(soname), version}) {
    const auto major = parse_integer(text.substr(0, text.find('.')));
    if (major && *major > 0 && *major < 1000) return as_read(static_cast<int>(*major));
  }
  return unknown("neither its soname nor its file name tells a version");
}

class Finder {
 public:
  explicit Finder(LoaderResolver& resolver) : resolver_(resolver), libraries_(resolver.libraries()) {}

  void add_directory(const std::string& directory, CudaPlace place) {
    for (const std::string& path : libraries_.in_directory(directory))
      if (const auto library = library_of(name_in(path))) add(*library, place, path);
  }

  void add_what_the_loader_finds() {
    for (const std::string& directory : resolver_.context().library_path) add_directory(directory, CudaPlace::loader);
    const auto& cache = libraries_.loader_cache(resolver_.context().machine);
    if (cache)
      for (const LoaderCacheEntry& entry : *cache)
        if (const auto library = library_of(entry.soname)) add(*library, CudaPlace::loader, entry.path);
    if (cache) return;
    for (const std::string& directory : {"/usr/lib/" + to_string(resolver_.context().machine) + "-linux-gnu",
                                         std::string("/usr/lib64"), std::string("/usr/lib")})
      add_directory(directory, CudaPlace::loader);
  }

  void add_toolkits() {
    for (const std::string& directory : libraries_.directories_in("/usr/local")) {
      if (!name_in(directory).starts_with("cuda")) continue;
      for (const char* const part : {"/lib64", "/targets/sbsa-linux/lib", "/targets/x86_64-linux/lib"})
        add_directory(directory + part, CudaPlace::toolkit);
      for (const char* const part : {"/compat", "/compat/lib", "/compat/lib.real"})
        add_directory(directory + part, CudaPlace::forward_compatibility);
    }
  }

  void add_environment(const std::string& site) {
    add_directory(site + "/torch/lib", CudaPlace::environment);
    for (const std::string& component : libraries_.directories_in(site + "/nvidia"))
      add_directory(component + "/lib", CudaPlace::environment);
  }

  std::vector<CudaLibraryFile> take() {
    std::sort(files_.begin(), files_.end(), [](const CudaLibraryFile& a, const CudaLibraryFile& b) {
      return std::tie(a.library, a.place, a.path) < std::tie(b.library, b.place, b.path);
    });
    return std::move(files_);
  }

 private:
  /// Of several names for one file ("libcudart.so", "libcudart.so.13") in a directory the first is kept.
  void add(CudaLibrary library, CudaPlace place, const std::string& path) {
    const std::string behind = libraries_.file_name(path);
    const std::string directory = path.substr(0, path.rfind('/') + 1);
    if (!seen_.insert(directory + behind).second) return;
    const auto found = libraries_.at(path);
    if (!found) return;
    CudaLibraryFile file;
    file.library = library;
    file.place = place;
    file.path = path;
    file.soname = (*found)->image.soname.empty() ? std::string(name_in(path)) : (*found)->image.soname;
    file.machine = to_string((*found)->image.machine);
    const std::string_view version = version_in(behind);
    file.major = major_of(file.soname, version);
    file.version = version.find('.') == std::string_view::npos
                       ? Known<std::string>(unknown("the name of the file tells no more than " + file.soname))
                       : as_read(std::string(version));
    files_.push_back(std::move(file));
  }

  LoaderResolver& resolver_;
  Libraries& libraries_;
  std::vector<CudaLibraryFile> files_;
  std::set<std::string> seen_;
};

}  // namespace

std::string_view to_string(CudaLibrary library) {
  for (const auto& [candidate, base] : k_names)
    if (candidate == library) return base;
  return "libcuda";
}

Known<std::string> cuda_version_of_driver(std::string_view driver_version) {
  // CUDA Toolkit release notes, table of toolkits and driver versions; the date is that of the last look.
  constexpr const char* k_date = "2026-11-30";
  constexpr std::array<std::pair<int, const char*>, 12> k_lines{{{525, "12.0"},
                                                                 {530, "12.1"},
                                                                 {535, "12.2"},
                                                                 {545, "12.3"},
                                                                 {550, "12.4"},
                                                                 {555, "12.5"},
                                                                 {560, "12.6"},
                                                                 {565, "12.7"},
                                                                 {570, "12.8"},
                                                                 {575, "12.9"},
                                                                 {580, "13.0"},
                                                                 {590, "13.1"}}};
  const auto line = parse_integer(driver_version.substr(0, driver_version.find('.')));
  for (const auto& [number, version] : k_lines)
    if (line && *line == number) return as_knowledge(std::string(version), k_date);
  return unknown("no CUDA version is known for driver " + printable(driver_version, 40));
}

std::vector<int> CudaRuntimes::majors(CudaLibrary library, CudaPlace place) const {
  std::set<int> majors;
  for (const CudaLibraryFile& file : files)
    if (file.library == library && file.place == place && file.major) majors.insert(*file.major);
  return {majors.begin(), majors.end()};
}

CudaRuntimes read_cuda_runtimes(LoaderResolver& resolver, const std::vector<std::string>& site_directories) {
  CudaRuntimes runtimes;
  Finder finder(resolver);
  for (const std::string& site : site_directories) finder.add_environment(site);
  finder.add_what_the_loader_finds();
  finder.add_toolkits();
  runtimes.files = finder.take();
  Libraries& libraries = resolver.libraries();
  for (const std::string& site : site_directories)
    for (const char* const name : {"ptxas", "ptxas-blackwell"}) {
      const std::string path = site + "/triton/backends/nvidia/bin/" + name;
      if (libraries.exists(path)) runtimes.triton_compilers.push_back({path, as_read(libraries.tool_version(path))});
    }
  return runtimes;
}

}  // namespace sparkops::facts
