#include <nlohmann/json.hpp>

#include "base/text.h"
#include "store/json_form.h"
#include "store/sample_csv.h"

namespace sparkops::store {

std::string json_line(const Sample& sample, std::span<const Reading> columns, std::string_view gpu_problem) {
  Json object{{"schema", "sparkops.record/1"}, {"taken_at", to_rfc3339(sample.taken)}};
  Json reasons = Json::object();
  for (const Reading reading : columns) {
    const std::string key(json_key(reading));
    if (const auto& value = sample[reading]) {
      if (*value == static_cast<double>(static_cast<std::int64_t>(*value)))
        object[key] = static_cast<std::int64_t>(*value);
      else
        object[key] = *value;
      continue;
    }
    object[key] = nullptr;
    reasons[key] =
        is_gpu_reading(reading) && !gpu_problem.empty() ? printable(gpu_problem) : "this system does not tell it";
  }
  if (!reasons.empty()) object["unknown"] = reasons;
  return object.dump() + "\n";
}

}  // namespace sparkops::store
