#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "facts/software/loader_cache.h"
#include "facts/software/loader_paths.h"
#include "facts/software/loader_resolution.h"

/// Any bytes as ld.so.cache, and as the paths of a library.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sparkops::facts;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const ElfMachine machine : {ElfMachine::aarch64, ElfMachine::x86_64}) {
    const auto entries = parse_loader_cache(text, machine, "ld.so.cache");
    if (entries && entries->size() > size / 24) std::abort();
  }
  Library library;
  library.path = "/a/b.so";
  library.image.runpath = std::string(text);
  for (const std::string& directory : runpath_directories(library))
    if (normal_path(directory).front() != '/') std::abort();
  (void)split_library_path(text);
  return 0;
}
