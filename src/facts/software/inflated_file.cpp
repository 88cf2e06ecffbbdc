#include "facts/software/inflated_file.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

#include "facts/software/elf_reading.h"

namespace sparkops::facts {

namespace {

class RangeFile final : public RandomAccessFile {
 public:
  RangeFile(std::shared_ptr<const RandomAccessFile> file, std::uint64_t offset, std::uint64_t size, std::string name)
      : file_(std::move(file)), offset_(offset), size_(size), name_(std::move(name)) {}
  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] std::uint64_t size() const override { return size_; }
  [[nodiscard]] Result<std::size_t> read_at(std::uint64_t offset, std::span<char> buffer) const override {
    if (offset >= size_) return std::size_t{0};
    return file_->read_at(offset_ + offset, buffer.subspan(0, std::min<std::uint64_t>(buffer.size(), size_ - offset)));
  }

 private:
  std::shared_ptr<const RandomAccessFile> file_;
  std::uint64_t offset_;
  std::uint64_t size_;
  std::string name_;
};

constexpr std::size_t k_chunk = std::size_t{256} << 10;
constexpr std::size_t k_input = std::size_t{64} << 10;
constexpr std::uint64_t k_between_states = std::uint64_t{16} << 20;

/// zlib's state at one place of the output.
struct Inflater {
  Inflater() = default;
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() {
    if (is_ready) ::inflateEnd(&stream);
  }
  z_stream stream{};
  bool is_ready = false;
  std::uint64_t input_at = 0;   ///< of the packed data: what zlib has taken
  std::uint64_t output_at = 0;  ///< of the unpacked data
};

class InflatedFile final : public RandomAccessFile {
 public:
  InflatedFile(std::shared_ptr<const RandomAccessFile> packed, std::uint64_t size, std::string name)
      : packed_(std::move(packed)), size_(size), name_(std::move(name)) {}

  [[nodiscard]] const std::string& name() const override { return name_; }
  [[nodiscard]] std::uint64_t size() const override { return size_; }

  [[nodiscard]] Result<std::size_t> read_at(std::uint64_t offset, std::span<char> buffer) const override {
    std::size_t done = 0;
    while (done < buffer.size() && offset + done < size_) {
      if (const auto there = bring(offset + done); !there) return tl::unexpected(there.error());
      const std::size_t inside = offset + done - chunk_at_;
      const std::size_t count = std::min(buffer.size() - done, chunk_.size() - inside);
      std::memcpy(buffer.data() + done, chunk_.data() + inside, count);
      done += count;
    }
    return done;
  }

 private:
  /// Makes the chunk hold the byte at `offset`.
  Result<void> bring(std::uint64_t offset) const {
    if (offset >= chunk_at_ && offset - chunk_at_ < chunk_.size()) return {};
    if (const auto placed = place_before(offset); !placed) return placed;
    while (current_->output_at <= offset)
      if (const auto next = next_chunk(); !next) return next;
    return {};
  }

  /// Puts the current state at or before `offset`, as near as the kept ones allow.
  Result<void> place_before(std::uint64_t offset) const {
    const auto after = states_.upper_bound(offset);
    const Inflater* const kept = after == states_.begin() ? nullptr : std::prev(after)->second.get();
    const bool goes_back = !current_ || current_->output_at > offset;
    if (!goes_back && (kept == nullptr || kept->output_at <= current_->output_at)) return {};
    auto state = std::make_unique<Inflater>();
    if (kept != nullptr) {
      // inflateCopy takes a non-const source and does not change it.
      if (::inflateCopy(&state->stream, const_cast<z_stream*>(&kept->stream)) != Z_OK)
        return failure(ErrorKind::input_output, name_ + ": no memory to unpack");
      state->input_at = kept->input_at;
      state->output_at = kept->output_at;
    } else if (::inflateInit2(&state->stream, -MAX_WBITS) != Z_OK) {
      return failure(ErrorKind::input_output, name_ + ": no memory to unpack");
    }
    state->is_ready = true;
    current_ = std::move(state);
    chunk_.clear();
    chunk_at_ = current_->output_at;
    return {};
  }

  Result<void> next_chunk() const {
    if (const auto kept = keep_state(); !kept) return kept;
    z_stream& stream = current_->stream;
    chunk_at_ = current_->output_at;
    chunk_.resize(std::min<std::uint64_t>(k_chunk, size_ - chunk_at_));
    stream.next_out = reinterpret_cast<Bytef*>(chunk_.data());
    stream.avail_out = static_cast<uInt>(chunk_.size());
    while (stream.avail_out > 0) {
      input_.resize(k_input);
      const auto count = packed_->read_at(current_->input_at, input_);
      if (!count) return tl::unexpected(count.error());
      stream.next_in = reinterpret_cast<Bytef*>(input_.data());
      stream.avail_in = static_cast<uInt>(*count);
      const int answer = ::inflate(&stream, Z_NO_FLUSH);
      current_->input_at += *count - stream.avail_in;
      const bool stuck = *count == 0 && stream.avail_out > 0;
      if (answer == Z_OK && !stuck) continue;
      if (answer == Z_STREAM_END && stream.avail_out == 0) break;
      chunk_.clear();
      return malformed_file(*this, answer == Z_STREAM_END || stuck ? "ends before the size it claims"
                                                                   : "its compressed data are damaged");
    }
    current_->output_at = chunk_at_ + chunk_.size();
    return {};
  }

  Result<void> keep_state() const {
    const std::uint64_t at = current_->output_at;
    const std::uint64_t last = states_.empty() ? 0 : states_.rbegin()->first;
    if (at < last + k_between_states) return {};
    auto state = std::make_unique<Inflater>();
    if (::inflateCopy(&state->stream, &current_->stream) != Z_OK)
      return failure(ErrorKind::input_output, name_ + ": no memory to unpack");
    state->is_ready = true;
    state->input_at = current_->input_at;
    state->output_at = at;
    states_.emplace(at, std::move(state));
    return {};
  }

  std::shared_ptr<const RandomAccessFile> packed_;
  std::uint64_t size_;
  std::string name_;
  mutable std::unique_ptr<Inflater> current_;
  mutable std::map<std::uint64_t, std::unique_ptr<Inflater>> states_;
  mutable std::vector<char> chunk_, input_;
  mutable std::uint64_t chunk_at_ = 0;
};

}  // namespace

std::shared_ptr<const RandomAccessFile> open_range(std::shared_ptr<const RandomAccessFile> file, std::uint64_t offset,
                                                   std::uint64_t size, std::string name) {
  return std::make_shared<const RangeFile>(std::move(file), offset, size, std::move(name));
}

std::shared_ptr<const RandomAccessFile> open_inflated(std::shared_ptr<const RandomAccessFile> packed,
                                                      std::uint64_t size, std::string name) {
  return std::make_shared<const InflatedFile>(std::move(packed), size, std::move(name));
}

}  // namespace sparkops::facts
