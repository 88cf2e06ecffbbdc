#include "store/json_form.h"

#include <nlohmann/json.hpp>

#include "base/text.h"

namespace sparkops::store {

namespace {

template <class Value, class Convert>
void write_known(Json& object, const std::string& key, const Known<Value>& value, Convert convert) {
  if (value) {
    object[key] = convert(*value);
    object["origin"][key] = to_string(value.provenance());
  } else {
    object[key] = nullptr;
    object["unknown"][key] = printable(value.reason());
  }
}

Json to_json(const Evidence& evidence) {
  return {{"reading", printable(evidence.reading)}, {"origin", to_string(evidence.provenance)}};
}

Json to_json(const Fix& fix) {
  Json json = Json::object();
  if (!fix.run.empty()) json["run"] = printable(fix.run);
  if (!fix.instruction.empty()) json["do"] = printable(fix.instruction);
  json["needs_root"] = fix.needs_root;
  if (!fix.changes.empty()) json["changes"] = fix.changes;
  if (!fix.verify.empty()) json["verify"] = printable(fix.verify);
  return json;
}

}  // namespace

void ObjectWriter::write(const std::string& key, const Known<std::string>& value) {
  write_known(object_, key, value, [](const std::string& text) { return printable(text); });
}
void ObjectWriter::write(const std::string& key, const Known<double>& value) {
  write_known(object_, key, value, [](double number) { return number; });
}
void ObjectWriter::write(const std::string& key, const Known<std::int64_t>& value) {
  write_known(object_, key, value, [](std::int64_t number) { return number; });
}
void ObjectWriter::write(const std::string& key, const Known<int>& value) {
  write_known(object_, key, value, [](int number) { return number; });
}
void ObjectWriter::write(const std::string& key, const Known<bool>& value) {
  write_known(object_, key, value, [](bool truth) { return truth; });
}
void ObjectWriter::write(const std::string& key, const Known<Bytes>& value) {
  write_known(object_, key, value, [](Bytes bytes) { return bytes.value; });
}

Json to_json(const std::vector<Fix>& fixes) {
  Json json = Json::array();
  for (const Fix& fix : fixes) json.push_back(to_json(fix));
  return json;
}

Json to_json(const Finding& finding) {
  Json json = Json::object();
  json["id"] = finding.id;
  json["status"] = to_string(finding.status);
  json["headline"] = printable(finding.headline);
  json["where"] = to_string(finding.where);
  json["who"] = to_string(finding.who);
  json["evidence"] = Json::array();
  for (const Evidence& evidence : finding.evidence) json["evidence"].push_back(to_json(evidence));
  json["fix"] = to_json(finding.fixes);
  json["sources"] = finding.sources;
  return json;
}

}  // namespace sparkops::store
