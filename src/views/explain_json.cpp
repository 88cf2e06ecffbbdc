#include "views/explain_json.h"

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "store/json_form.h"

namespace sparkops::views {

using store::Json;

namespace {

constexpr std::string_view k_schema = "sparkops.explain/1";
constexpr int k_indentation = 2;

Json sources_json(const std::vector<knowledge::Source>& sources) {
  Json list = Json::array();
  for (const auto& source : sources) {
    Json one{{"title", source.title}};
    if (!source.url.empty()) one["url"] = source.url;
    list.push_back(std::move(one));
  }
  return list;
}

Json entry_json(const knowledge::EntryRef& entry, Timestamp now) {
  Json json{{"kind", entry.gotcha ? "gotcha" : "topic"}, {"id", entry.id()}, {"title", entry.title()}};
  if (entry.gotcha) {
    json["symptom"] = entry.gotcha->symptom;
    json["cause"] = entry.gotcha->cause;
    json["check"] = entry.gotcha->check;
    json["fix"] = entry.gotcha->fix;
    json["how_sure"] = entry.gotcha->how_sure;
    json["later_evidence"] = entry.gotcha->later_evidence;
  } else {
    json["text"] = entry.topic->text;
  }
  json["see_also"] = entry.see_also();
  json["sources"] = sources_json(entry.sources());
  json["last_verified"] = entry.last_verified();
  const auto age = knowledge::age_in_days(entry.last_verified(), now);
  json["age_days"] = age ? Json(*age) : Json(nullptr);
  json["is_old"] = !age || *age > knowledge::k_stale_after_days;
  return json;
}

Json symptom_json(const knowledge::Symptom& symptom) {
  return {{"text", symptom.text}, {"leads_to", symptom.leads_to}, {"last_verified", symptom.last_verified}};
}

template <class Entries>
Json titles_json(const Entries& entries) {
  Json list = Json::array();
  for (const auto& entry : entries)
    list.push_back({{"id", entry.id}, {"title", entry.title}, {"last_verified", entry.last_verified}});
  return list;
}

/// Override files may hold any bytes: what is no UTF-8 is replaced, never an exception.
std::string dump(const Json& json) {
  return json.dump(k_indentation, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string explain_json(const knowledge::LookUp& found, std::string_view query, Timestamp now) {
  Json json{{"schema", k_schema}, {"kind", "entry"}, {"query", printable(query)}};
  json["entry"] = entry_json(found.entry, now);
  json["symptoms"] = Json::array();
  for (const auto* symptom : found.symptoms) json["symptoms"].push_back(symptom_json(*symptom));
  return dump(json);
}

std::string explain_index_json(const knowledge::Tables& tables) {
  Json json{{"schema", k_schema}, {"kind", "index"}};
  json["gotchas"] = titles_json(tables.gotchas());
  json["topics"] = titles_json(tables.topics());
  json["symptoms"] = Json::array();
  for (const auto& symptom : tables.symptoms()) json["symptoms"].push_back(symptom_json(symptom));
  return dump(json);
}

}  // namespace sparkops::views
