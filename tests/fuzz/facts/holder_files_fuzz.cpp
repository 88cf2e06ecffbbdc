#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "facts/machine/file_mappings.h"
#include "facts/machine/stopped_containers.h"
#include "facts/machine/user_names.h"

/// Any bytes as proc/PID/maps or smaps, etc/passwd, or docker's record of a container.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sparkops::facts;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const MappedRegion& region : parse_mappings(text))
    if (region.inode == 0 || region.resident.value < 0 || region.locked.value < 0) std::abort();
  (void)parse_passwd(text);
  (void)parse_docker_container(text);
  return 0;
}
