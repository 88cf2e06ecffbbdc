#include "facts/workload/quantization.h"

#include <array>

#include "base/text.h"
#include "facts/workload/options.h"

namespace sparkops::facts {

namespace {

constexpr std::array<std::string_view, 15> k_formats = {"nvfp4", "mxfp4", "mxfp8", "fp4",  "fp8",
                                                        "nf4",   "awq",   "gptq",  "exl3", "int4",
                                                        "int8",  "w4a16", "w8a8",  "w4a8", "bnb"};

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/// Whether `word` stands in `text` with nothing but separators around it.
bool has_whole_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const bool starts = at == 0 || !is_letter_or_digit(text[at - 1]);
    const std::size_t end = at + word.size();
    if (starts && (end == text.size() || !is_letter_or_digit(text[end]))) return true;
  }
  return false;
}

/// "q4_k_m", "iq3_xxs", "q8_0" of GGUF file names, or empty.
std::string gguf_format(std::string_view name) {
  for (std::size_t at = 0; at + 2 < name.size(); ++at) {
    if (at > 0 && is_letter_or_digit(name[at - 1])) continue;
    const std::string_view rest = name.substr(at);
    const std::size_t digit = rest.starts_with("iq") ? 2 : 1;
    if (!rest.starts_with('q') && !rest.starts_with("iq")) continue;
    if (digit + 1 >= rest.size() || rest[digit] < '1' || rest[digit] > '8' || rest[digit + 1] != '_') continue;
    std::size_t end = digit + 1;
    while (end < rest.size() && (is_letter_or_digit(rest[end]) || rest[end] == '_')) ++end;
    return std::string(rest.substr(0, end));
  }
  return "";
}

bool is_on(std::string_view value) {
  const std::string text = to_lower(trim(value));
  return !text.empty() && text != "false" && text != "0" && text != "no" && text != "none" && text != "null";
}

/// Settings that ask for FP4 by their name alone; the recipe says which kind.
Known<std::string> fp4_training_format(const std::vector<Setting>& settings) {
  constexpr std::array<std::string_view, 3> k_recipe = {"fp4_recipe", "fp4_format", "fp4"};
  const Setting* const setting = find_setting(settings, k_recipe);
  if (setting == nullptr || !is_on(setting->value)) return unknown("no FP4 setting");
  const std::string value = to_lower(setting->value);
  return as_read(std::string(contains(value, "mxfp4") ? "mxfp4" : "nvfp4"));
}

}  // namespace

Known<std::string> quantization_of_name(std::string_view model) {
  const std::string name = to_lower(model);
  for (const std::string_view format : k_formats)
    if (has_whole_word(name, format)) return as_derived(std::string(format));
  const std::string gguf = gguf_format(name);
  if (!gguf.empty()) return as_derived(std::string(gguf));
  if (contains(name, "gpt-oss")) return as_derived(std::string("mxfp4"));
  return unknown("the name " + std::string(model) + " tells no number format");
}

Known<std::string> read_quantization(const std::vector<Setting>& settings, const Known<std::string>& model) {
  if (Known<std::string> fp4 = fp4_training_format(settings)) return fp4;
  const Known<std::string> from_name =
      model ? quantization_of_name(*model) : Known<std::string>(unknown("no model is named"));
  constexpr std::array<std::string_view, 3> k_flag = {"quantization", "quantization_method", "quant_method"};
  if (const Setting* const flag = find_setting(settings, k_flag); flag != nullptr && is_on(flag->value)) {
    const std::string value = to_lower(trim(flag->value));
    for (const std::string_view format : k_formats)
      if (has_whole_word(value, format)) return as_read(std::string(format));
    return from_name ? from_name : as_read(std::string(value));
  }
  constexpr std::array<std::string_view, 1> k_bnb_type = {"bnb_4bit_quant_type"};
  if (const Setting* const type = find_setting(settings, k_bnb_type); type != nullptr)
    return as_read(to_lower(trim(type->value)));
  constexpr std::array<std::string_view, 2> k_four_bit = {"load_in_4bit", "qlora"};
  if (const Setting* const four = find_setting(settings, k_four_bit); four != nullptr && is_on(four->value))
    return as_derived(std::string("nf4"));
  return from_name;
}

}  // namespace sparkops::facts
