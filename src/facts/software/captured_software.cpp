#include "facts/software/captured_software.h"

#include <nlohmann/json.hpp>

namespace sparkops::facts {

namespace {

constexpr std::size_t k_document_cap = std::size_t{64} << 10;

std::string text_of(const nlohmann::json& document, const char* key) {
  const auto found = document.find(key);
  return found != document.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

std::optional<CapturedPython> read_captured_python(const Root& root) {
  if (root.is_live()) return std::nullopt;
  const auto text = root.read("sparkops/software.json", k_document_cap);
  if (!text) return std::nullopt;
  const auto document = nlohmann::json::parse(*text, nullptr, false);
  if (!document.is_object()) return std::nullopt;
  CapturedPython python{text_of(document, "interpreter"), text_of(document, "found_by")};
  const bool was_none = text_of(document, "environment") == "none";
  if (python.interpreter.empty() && !was_none) return std::nullopt;
  return python;
}

}  // namespace sparkops::facts
