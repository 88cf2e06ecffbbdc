#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/random_access_file.h"
#include "facts/software/elf_image.h"
#include "facts/software/fat_binary.h"

namespace sparkops::facts {

enum class InspectedKind { library, device_code, archive };

/// What one file, or one member of an archive, turned out to be.
struct InspectedFile {
  std::string name;  ///< the path, or the member's name
  std::uint64_t size = 0;
  InspectedKind kind = InspectedKind::library;
  std::optional<ElfImage> image;  ///< of libraries, programs, object files and cubins
  std::uint64_t exported = 0;     ///< symbols defined for others
  std::uint64_t undefined = 0;    ///< strong symbols that others must define
  FatBinary code;
  std::vector<CodeObject> objects;  ///< each one, where that was asked for
  std::string problem;              ///< why a member could not be read; empty: it could
};

/// A file that was looked into.
struct Inspection {
  InspectedFile file;
  std::vector<InspectedFile> members;  ///< of an archive: its libraries and device code, in the archive's order
  std::uint64_t member_count = 0;      ///< all members, those that are nothing of this kind too
};

enum class ObjectList { groups_only, every_object };

/// Looks at what the file is by its first bytes, never by its name: ELF file, cubin, fat binary, PTX, or zip archive
/// (wheel), whose members are read in place. Code hidden in other sections is searched for where the usual ones hold
/// nothing but link stubs. Errors: malformed, with the file's name; unsupported for a file of no such kind.
[[nodiscard]] Result<Inspection> inspect_file(const std::shared_ptr<const RandomAccessFile>& file, ObjectList objects);

}  // namespace sparkops::facts
