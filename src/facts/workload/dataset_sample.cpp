#include "facts/workload/dataset_sample.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/text.h"

namespace sparkops::facts {

namespace {

constexpr int k_most_nesting = 64;
constexpr double k_ascii_for_token = 4, k_others_for_token = 1.5, k_tokens_for_message = 4;

struct Text {
  std::int64_t ascii = 0, others = 0;

  void add(std::string_view text) {
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (byte < 0x80U)
        ++ascii;
      else if ((byte & 0xC0U) != 0x80U)  // the first byte of a character
        ++others;
    }
  }
  void add(const Text& more) {
    ascii += more.ascii;
    others += more.others;
  }
  [[nodiscard]] bool empty() const { return ascii + others == 0; }
};

enum class Field { none, text, messages, prompt, completion, instruction, output, chosen, rejected, token_ids };

struct Row {
  std::string_view name;
  Field field;
};
constexpr std::array<Row, 22> k_fields = {{{"text", Field::text},
                                           {"content", Field::text},
                                           {"messages", Field::messages},
                                           {"conversations", Field::messages},
                                           {"conversation", Field::messages},
                                           {"system", Field::prompt},
                                           {"prompt", Field::prompt},
                                           {"question", Field::prompt},
                                           {"query", Field::prompt},
                                           {"context", Field::prompt},
                                           {"completion", Field::completion},
                                           {"response", Field::completion},
                                           {"answer", Field::completion},
                                           {"instruction", Field::instruction},
                                           {"input", Field::instruction},
                                           {"history", Field::instruction},
                                           {"output", Field::output},
                                           {"chosen", Field::chosen},
                                           {"rejected", Field::rejected},
                                           {"input_ids", Field::token_ids},
                                           {"token_ids", Field::token_ids},
                                           {"tokens", Field::token_ids}}};
constexpr std::size_t k_field_count = static_cast<std::size_t>(Field::token_ids) + 1;

/// nlohmann's events of one line: texts are measured where they stand, nothing is kept.
class SampleReader {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  std::string problem;

  bool null() { return started(); }
  bool boolean(bool) { return started(); }
  bool number_integer(number_integer_t) { return number(); }
  bool number_unsigned(number_unsigned_t) { return number(); }
  bool number_float(number_float_t, const string_t&) { return number(); }
  bool binary(binary_t&) { return started(); }
  bool string(string_t& text) {
    if (!started()) return false;
    if (field_ == Field::none || (depth_ > 1 && !is_content_)) return true;
    texts_[static_cast<std::size_t>(field_)].add(text);
    seen_[static_cast<std::size_t>(field_)] = true;
    return true;
  }
  bool key(string_t& name) {
    if (depth_ == 1) {
      const auto* const row =
          std::find_if(k_fields.begin(), k_fields.end(), [&name](const Row& entry) { return entry.name == name; });
      field_ = row == k_fields.end() ? Field::none : row->field;
      is_content_ = true;
    } else {
      // A message: its role and the names of its tools are not what makes it long.
      is_content_ =
          name == "content" || name == "value" || name == "text" || name == "reasoning_content" || name == "arguments";
      if (name == "content" || name == "value") ++messages_;
    }
    return true;
  }
  bool start_object(std::size_t) { return deeper(); }
  bool end_object() { return shallower(); }
  bool start_array(std::size_t) { return started() && deeper(); }
  bool end_array() { return shallower(); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) {
    problem = "no JSON from byte " + std::to_string(position) + " on";
    return false;
  }

  [[nodiscard]] Result<Sample> finish() const {
    Sample sample;
    const auto has = [this](Field field) { return seen_[static_cast<std::size_t>(field)]; };
    if (has(Field::token_ids) && ids_ > 0) return Sample{SampleForm::token_ids, 0, ids_};
    Text sum;
    for (const Text& text : texts_) sum.add(text);
    if (has(Field::chosen) && has(Field::rejected)) {
      sum.add(texts_[static_cast<std::size_t>(Field::prompt)]);
      sample.form = SampleForm::preference;
    } else if (has(Field::messages)) {
      sample.form = SampleForm::messages;
    } else if (has(Field::instruction) || has(Field::output)) {
      sample.form = SampleForm::instruction_output;
    } else if (has(Field::prompt) || has(Field::completion)) {
      sample.form = SampleForm::prompt_completion;
    } else if (has(Field::text)) {
      sample.form = SampleForm::text;
    } else {
      return failure(ErrorKind::malformed,
                     "none of its fields is text, messages, prompt, completion, instruction, output or input_ids");
    }
    sample.characters = sum.ascii + sum.others;
    sample.tokens = static_cast<std::int64_t>(static_cast<double>(sum.ascii) / k_ascii_for_token +
                                              static_cast<double>(sum.others) / k_others_for_token +
                                              static_cast<double>(messages_) * k_tokens_for_message + 1);
    return sample;
  }

 private:
  /// A line must be an object.
  bool started() {
    if (depth_ > 0) return true;
    problem = "no JSON object";
    return false;
  }
  bool number() {
    if (!started()) return false;
    if (field_ != Field::token_ids || depth_ != 2) return true;
    ++ids_;
    seen_[static_cast<std::size_t>(Field::token_ids)] = true;
    return true;
  }
  bool deeper() {
    if (++depth_ <= k_most_nesting) return true;
    problem = "nested too deeply";
    return false;
  }
  bool shallower() {
    --depth_;
    return true;
  }

  int depth_ = 0;
  Field field_ = Field::none;
  bool is_content_ = true;
  std::int64_t ids_ = 0, messages_ = 0;
  std::array<Text, k_field_count> texts_{};
  std::array<bool, k_field_count> seen_{};
};

}  // namespace

Result<Sample> read_sample(std::string_view line) {
  try {
    SampleReader reader;
    if (!nlohmann::json::sax_parse(line, &reader)) return failure(ErrorKind::malformed, reader.problem);
    return reader.finish();
  } catch (const std::exception& error) {
    return failure(ErrorKind::malformed, error.what());
  }
}

}  // namespace sparkops::facts
