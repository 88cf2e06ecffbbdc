#include "facts/workload/dataset.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/text.h"
#include "facts/workload/dataset_sample.h"

namespace sparkops::facts {

namespace {

constexpr std::size_t k_part = std::size_t{1} << 20;            // bytes of one read
constexpr std::uint64_t k_run = std::uint64_t{64} << 20;        // bytes until the pages are given back
constexpr std::size_t k_longest_line = std::size_t{256} << 20;  // bytes
constexpr std::size_t k_most_kept = 8'000'000;                  // lengths; 32 MB each for characters and tokens
constexpr std::int64_t k_tried_lines = 100;                     // until a file is none of JSON lines

/// Lengths of an even selection of the samples: all of them until there are too many, then every second, fourth …
class Lengths {
 public:
  void add(std::int64_t length) {
    total_ += length;
    longest_ = std::max(longest_, length);
    if (count_++ % stride_ != 0) return;
    kept_.push_back(static_cast<std::uint32_t>(std::min<std::int64_t>(length, UINT32_MAX)));
    if (kept_.size() < k_most_kept) return;
    for (std::size_t i = 0; 2 * i < kept_.size(); ++i) kept_[i] = kept_[2 * i];
    kept_.resize((kept_.size() + 1) / 2);
    stride_ *= 2;
  }

  [[nodiscard]] bool exact() const { return stride_ == 1; }

  [[nodiscard]] LengthSummary summary() {
    constexpr std::size_t k_hundred = 100, k_median = 50, k_high = 99;
    LengthSummary summary{0, 0, longest_, total_};
    if (kept_.empty()) return summary;
    std::sort(kept_.begin(), kept_.end());
    // The smallest length that at least so many of a hundred do not exceed.
    const auto percentile = [this](std::size_t percent) {
      return std::int64_t{kept_[(kept_.size() * percent + k_hundred - 1) / k_hundred - 1]};
    };
    summary.median = percentile(k_median);
    summary.p99 = percentile(k_high);
    return summary;
  }

 private:
  std::vector<std::uint32_t> kept_;
  std::int64_t count_ = 0, stride_ = 1, total_ = 0, longest_ = 0;
};

class DatasetReader {
 public:
  DatasetReader(const Root& root, std::string path) : root_(root), path_(std::move(path)) {}

  Result<DatasetSummary> read() {
    std::uint64_t at = 0, size = 0;
    std::vector<char> part(k_part);
    do {
      // Closing the file gives back the pages that were fetched, so that a large one never fills the pool.
      const auto file = root_.open_file(path_);
      if (!file) return tl::unexpected(file.error());
      size = (*file)->size();
      const std::uint64_t end = std::min(size, at + k_run);
      while (at < end) {
        const auto count = (*file)->read_at(at, part);
        if (!count) return tl::unexpected(count.error());
        if (*count == 0) {
          size = at;
          break;
        }
        take({part.data(), *count});
        at += *count;
        if (const auto wrong = problem()) return tl::unexpected(*wrong);
      }
    } while (at < size);
    if (!rest_.empty() || rest_is_too_long_) take_line(rest_);
    summary_.size = Bytes{static_cast<std::int64_t>(at)};
    return finish();
  }

 private:
  [[nodiscard]] std::optional<Error> problem() const {
    if (summary_.samples > 0 || summary_.bad_lines < k_tried_lines) return std::nullopt;
    return Error{ErrorKind::malformed, path_ + ": no JSON lines (" + summary_.first_bad_line + ")"};
  }

  void take(std::string_view bytes) {
    while (true) {
      const std::size_t end = bytes.find('\n');
      if (end == std::string_view::npos) break;
      if (rest_.empty() && !rest_is_too_long_) {
        take_line(bytes.substr(0, end));
      } else {
        keep(bytes.substr(0, end));
        take_line(rest_);
        rest_.clear();
        rest_is_too_long_ = false;
      }
      bytes.remove_prefix(end + 1);
    }
    keep(bytes);
  }

  void keep(std::string_view bytes) {
    rest_is_too_long_ = rest_is_too_long_ || rest_.size() + bytes.size() > k_longest_line;
    if (rest_is_too_long_)
      rest_.clear();
    else
      rest_ += bytes;
  }

  void refuse(const std::string& reason) {
    if (summary_.bad_lines++ == 0) summary_.first_bad_line = "line " + std::to_string(line_) + ": " + reason;
  }

  void take_line(std::string_view line) {
    ++line_;
    if (rest_is_too_long_) return refuse("longer than 256 MiB");
    if (trim(line).empty()) return;
    const auto sample = read_sample(line);
    if (!sample) return refuse(sample.error().message);
    ++summary_.samples;
    if (summary_.form == SampleForm::unknown) summary_.form = sample->form;
    if (sample->tokens > longest_) {
      longest_ = sample->tokens;
      summary_.longest_line = line_;
    }
    exact_tokens_ = exact_tokens_ && sample->form == SampleForm::token_ids;
    characters_.add(sample->characters);
    tokens_.add(sample->tokens);
  }

  Result<DatasetSummary> finish() {
    if (summary_.samples == 0)
      return failure(
          ErrorKind::malformed,
          path_ + ": no samples in it" + (summary_.first_bad_line.empty() ? "" : " (" + summary_.first_bad_line + ")"));
    summary_.percentiles_exact = tokens_.exact();
    summary_.characters = unknown("the file holds token ids, no text");
    if (exact_tokens_) {
      summary_.tokens = as_read(tokens_.summary());
    } else {
      summary_.characters = as_read(characters_.summary());
      summary_.tokens = as_derived(tokens_.summary());
    }
    return std::move(summary_);
  }

  const Root& root_;
  std::string path_;
  DatasetSummary summary_;
  Lengths characters_, tokens_;
  std::string rest_;
  bool rest_is_too_long_ = false;
  bool exact_tokens_ = true;
  std::int64_t line_ = 0, longest_ = -1;
};

}  // namespace

Result<DatasetSummary> read_dataset(const Root& root, const std::string& path) {
  return DatasetReader(root, path).read();
}

std::string_view to_string(SampleForm form) {
  switch (form) {
    case SampleForm::text: return "text";
    case SampleForm::messages: return "messages";
    case SampleForm::prompt_completion: return "prompt and completion";
    case SampleForm::instruction_output: return "instruction and output";
    case SampleForm::preference: return "chosen and rejected";
    case SampleForm::token_ids: return "token ids";
    case SampleForm::unknown: return "unknown";
  }
  return "";
}

}  // namespace sparkops::facts
