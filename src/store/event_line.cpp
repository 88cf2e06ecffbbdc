#include "store/event_line.h"

#include <nlohmann/json.hpp>

#include "store/json_form.h"

namespace sparkops::store {

std::string event_line(const Finding& finding, Timestamp at) {
  Json json{{"schema", "sparkops.event/1"}, {"at", to_rfc3339(at)}, {"kind", finding.id}};
  json.update(to_json(finding));
  // Everything in it has been made printable; should something not be UTF-8 all the same, the line still stands.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sparkops::store
