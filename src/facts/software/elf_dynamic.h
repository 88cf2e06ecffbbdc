#pragma once

#include <elf.h>

#include <vector>

#include "facts/software/elf_image.h"

namespace sparkops::facts {

/// Fills in what the dynamic section says (soname, needed, paths, versions, tables). A file without one stays as it is.
[[nodiscard]] Result<void> read_elf_dynamic(const RandomAccessFile& file, const std::vector<Elf64_Phdr>& segments,
                                            ElfImage& image);

}  // namespace sparkops::facts
