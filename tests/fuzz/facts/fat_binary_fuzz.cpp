#include <cstdint>
#include <cstdlib>
#include <string>

#include "facts/software/fat_binary.h"

/// Any bytes as device code, and as a library that holds some: never more objects than their headers have room for.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sparkops::facts;
  const auto file = sparkops::open_bytes(std::string(reinterpret_cast<const char*>(data), size), "fuzz.fatbin");
  const auto bare = read_device_code(*file, [](const CodeObject& object) { (void)to_string(object.target); });
  if (bare && bare->objects > size / 64 + 1) std::abort();
  const auto image = read_elf_image(*file);
  if (!image) return 0;
  const auto inside = read_fat_binary(*file, *image, HiddenContainers::always);
  if (inside && inside->malformed == 0 && !inside->problems.empty()) std::abort();
  return 0;
}
