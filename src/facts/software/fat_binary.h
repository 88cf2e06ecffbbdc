#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/random_access_file.h"
#include "base/result.h"
#include "facts/software/elf_image.h"

namespace sparkops::facts {

enum class CodeKind {
  ptx,     ///< text that the driver compiles (JIT)
  cubin,   ///< machine code
  lto_ir,  ///< for the linker; nothing the driver runs
  other,   ///< a kind that is not known
};

/// The letter behind the architecture. A container tells it in its flags alone; a cubin outside of one, made by CUDA
/// 13, does not tell it.
enum class ArchVariant { plain, specific /* a */, family /* f */, untold };

enum class CodeCompression { none, lz4, zstandard };

/// What one code object was compiled for.
struct CodeTarget {
  CodeKind kind = CodeKind::other;
  int arch = 0;  ///< decimal: 121 for compute capability 12.1
  ArchVariant variant = ArchVariant::plain;
  friend auto operator<=>(const CodeTarget&, const CodeTarget&) = default;
};

/// "sm_121a" for cubins, "compute_120f" for PTX, "lto_90"; "sm_121?" where the letter is not told.
[[nodiscard]] std::string to_string(const CodeTarget& target);

/// One code object, from its header alone.
struct CodeObject {
  CodeTarget target;
  CodeCompression compression = CodeCompression::none;
  int isa_major = 0, isa_minor = 0;      ///< of PTX: its ISA version, 9.0 for CUDA 13.0; 0 for others
  std::uint64_t stored_bytes = 0;        ///< padded to 8
  std::uint64_t uncompressed_bytes = 0;  ///< as run; equals what is stored where it is not compressed
  std::uint64_t offset = 0;              ///< of its header in the file
};

/// Cubins below this size hold no kernels: they are the ones that linking adds for each target.
inline constexpr std::uint64_t k_link_stub_bytes = 2048;

/// Code objects that are alike in all but size.
struct CodeGroup {
  std::string section;  ///< ".nv_fatbin", "__nv_relfatbin", where else they were found; empty in a bare fatbin
  CodeTarget target;
  CodeCompression compression = CodeCompression::none;
  int isa_major = 0, isa_minor = 0;
  std::uint64_t count = 0;
  std::uint64_t stubs = 0;  ///< of `count`: cubins below k_link_stub_bytes uncompressed
  std::uint64_t stored_bytes = 0, uncompressed_bytes = 0;
};

/// The device code of one file.
struct FatBinary {
  std::vector<CodeGroup> groups;  ///< sorted by section, target
  std::uint64_t containers = 0;
  std::uint64_t objects = 0;          ///< sum of the groups' counts
  std::uint64_t wrappers = 0;         ///< registered by .nvFatBinSegment; 0 where there is none
  bool searched_elsewhere = false;    ///< other sections were searched for containers as well
  std::uint64_t malformed = 0;        ///< containers or entries that could not be followed to their end
  std::vector<std::string> problems;  ///< the first of these, with their offsets

  [[nodiscard]] bool has_code() const { return objects != 0; }
};

enum class HiddenContainers {
  never,          ///< only the two sections that are meant for code
  if_only_stubs,  ///< search other large sections where these hold nothing but link stubs (this reads them whole)
  always,
};

/// Lists the code objects of a library, an executable, an object file, a bare fatbin, a cubin or a PTX text; headers
/// only, nothing is decompressed. `visit`, where given, is called for each object in the order
/// of the file. A file without code gives an empty list. Errors: input_output, malformed (no file of these kinds).
[[nodiscard]] Result<FatBinary> read_fat_binary(const RandomAccessFile& file, const ElfImage& image,
                                                HiddenContainers hidden = HiddenContainers::never,
                                                const std::function<void(const CodeObject&)>& visit = {});

/// A file that is no library: bare fatbin, cubin, PTX. Errors: malformed when it is none of them.
[[nodiscard]] Result<FatBinary> read_device_code(const RandomAccessFile& file,
                                                 const std::function<void(const CodeObject&)>& visit = {});

}  // namespace sparkops::facts
