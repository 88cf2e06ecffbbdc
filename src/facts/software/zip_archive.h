#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/random_access_file.h"
#include "base/result.h"

namespace sparkops::facts {

/// One file of an archive, as the central directory describes it.
struct ZipMember {
  std::string name;
  std::uint64_t size = 0;             ///< bytes, unpacked
  std::uint64_t compressed_size = 0;  ///< bytes in the archive
  std::uint64_t header_offset = 0;
  std::uint16_t method = 0;  ///< 0 stored, 8 deflated
  bool encrypted = false;
};

/// A zip archive (a wheel) that is looked into without unpacking it. The file is kept open.
class ZipArchive {
 public:
  /// Reads the central directory. Errors: malformed, when it is cut off, claims absurd counts, or is a zip bomb:
  /// members that share bytes, or that claim to unpack to more than 250 times their size. The message names the file.
  [[nodiscard]] static Result<ZipArchive> open(std::shared_ptr<const RandomAccessFile> file);

  [[nodiscard]] const std::vector<ZipMember>& members() const { return members_; }
  [[nodiscard]] const std::string& name() const { return file_->name(); }

  /// A member for reading by ranges: of a stored one those of the archive; a deflated one is unpacked in passing, a
  /// quarter of a mebibyte at a time, and never as a whole. Its name is "ARCHIVE: MEMBER". Errors: unsupported
  /// (encrypted, another method), malformed.
  [[nodiscard]] Result<std::shared_ptr<const RandomAccessFile>> open_member(const ZipMember& member) const;

 private:
  std::shared_ptr<const RandomAccessFile> file_;
  std::vector<ZipMember> members_;
};

/// Whether the first bytes are those of a zip archive.
[[nodiscard]] bool looks_like_zip(std::string_view start);

}  // namespace sparkops::facts
