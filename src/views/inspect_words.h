#pragma once

#include <string>
#include <string_view>

#include "facts/software/inspected_file.h"

namespace sparkops::views {

[[nodiscard]] std::string_view kind_word(facts::InspectedKind kind);  ///< "library", "device-code", "archive"
[[nodiscard]] std::string_view kind_word(facts::CodeKind kind);       ///< "ptx", "cubin", "lto-ir", "other"
[[nodiscard]] std::string_view compression_word(facts::CodeCompression compression);  ///< "none", "lz4", "zstandard"

/// "9.1" for PTX, empty for other code.
[[nodiscard]] std::string isa_text(int isa_major, int isa_minor);

}  // namespace sparkops::views
