#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/known.h"
#include "base/quantities.h"
#include "base/result.h"
#include "base/root.h"

namespace sparkops::facts {

/// How the samples of a file hold their text.
enum class SampleForm {
  text,                ///< one field: text, content
  messages,            ///< a list of messages or conversations
  prompt_completion,   ///< prompt and completion or response
  instruction_output,  ///< instruction, input and output
  preference,          ///< chosen and rejected: both are counted, and the prompt twice
  token_ids,           ///< input_ids: counted exactly
  unknown,
};

/// The lengths of all samples; a percentile is the length that so many do not exceed.
struct LengthSummary {
  std::int64_t median = 0, p99 = 0, longest = 0, total = 0;
};

/// What a file of JSON lines holds.
struct DatasetSummary {
  Bytes size;
  std::int64_t samples = 0;
  std::int64_t bad_lines = 0;             ///< no JSON object, or without a field whose text is known
  std::string first_bad_line;             ///< its number and the reason; empty without
  SampleForm form = SampleForm::unknown;  ///< of the first sample that has one
  std::int64_t longest_line = 0;          ///< its number, from 1
  bool percentiles_exact = true;          ///< false for more samples than are kept: of an even selection of them

  Known<LengthSummary> characters;  ///< of the fields that are trained on; unknown for token ids
  /// Read for token ids; else estimated (origin derived): a token for four ASCII characters and for one and a half of
  /// others, and a few for each message. Tokenizers differ by a third to both sides.
  Known<LengthSummary> tokens;
};

/// Reads a file of JSON lines from front to back, a part at a time, and leaves nothing of it in the page cache. Errors:
/// those of Root; malformed when it holds no JSON lines at all.
[[nodiscard]] Result<DatasetSummary> read_dataset(const Root& root, const std::string& path);

[[nodiscard]] std::string_view to_string(SampleForm form);

}  // namespace sparkops::facts
