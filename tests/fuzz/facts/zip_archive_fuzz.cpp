#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "facts/software/inspected_file.h"
#include "facts/software/zip_archive.h"

/// Any bytes as a wheel: an error, or members that give no more than they claim.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace sparkops::facts;
  const auto file = sparkops::open_bytes(std::string(reinterpret_cast<const char*>(data), size), "fuzz.whl");
  (void)inspect_file(file, ObjectList::every_object);
  const auto archive = ZipArchive::open(file);
  if (!archive) return 0;
  for (const ZipMember& member : archive->members()) {
    const auto content = archive->open_member(member);
    if (!content) continue;
    std::array<char, 4096> buffer{};
    const auto count = (*content)->read_at(0, buffer);
    if (count && *count > member.size) std::abort();
    (void)(*content)->read_at(member.size / 2, buffer);
  }
  return 0;
}
