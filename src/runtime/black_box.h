#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "base/timestamp.h"
#include "store/ring_file.h"

namespace sparkops::runtime {

/// Files of a run that are written by one thread and made durable by another, so that whoever appends never waits for
/// a disk. What is appended is written within a moment and durable within a second. A disk that is full or gone costs
/// the content that no longer fits into memory, which is counted, never the job.
class BlackBox {
 public:
  /// How a file's content may be cut when the disk is full.
  enum class Content {
    lines,  ///< only whole lines stand in the file
    bytes,  ///< anywhere
  };
  using FileNumber = std::size_t;

  BlackBox();
  ~BlackBox();  ///< stop()
  BlackBox(const BlackBox&) = delete;
  BlackBox& operator=(const BlackBox&) = delete;

  /// Before start(). The file is appended to; `most_waiting` bytes may wait in memory for a disk.
  FileNumber add(FileDescriptor file, std::string name, Content content, std::size_t most_waiting);
  void add_ring(store::RingFile ring);
  /// Errors: unsupported, when no thread can be had.
  [[nodiscard]] Result<void> start();

  /// Never waits for a disk. False when it did not fit any more: then nothing of it was taken, and it is counted.
  bool append(FileNumber file, std::string_view content);
  void append_to_ring(Timestamp taken, std::string_view text);

  /// Age of the oldest content that is not durable yet; 0 when everything is.
  [[nodiscard]] double sync_lag_ms() const;
  /// Sentences about what could not be written since the last call, one for each new kind of failure.
  [[nodiscard]] std::vector<std::string> take_problems();
  /// Bytes that were not taken or are lost.
  [[nodiscard]] std::int64_t lost_bytes(FileNumber file) const;
  [[nodiscard]] std::int64_t written_bytes(FileNumber file) const;

  /// Writes and syncs what waits and ends both threads; gives up on a disk that has not answered after `patience`.
  void stop(std::chrono::milliseconds patience = std::chrono::seconds(5));

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
  bool started_ = false;
};

}  // namespace sparkops::runtime
