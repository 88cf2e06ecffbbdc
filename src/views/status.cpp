#include "views/status.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "store/json_form.h"
#include "views/preflight_text.h"

namespace sparkops::views {

namespace {

using store::Json;

constexpr int k_indent = 2;
constexpr std::size_t k_bar_columns = 20;

std::string size_or_unknown(const Known<Bytes>& bytes) {
  return bytes ? format_size(*bytes) : "unknown";
}

/// One line of a field, cut rather than wrapped: the whole status stays within ten lines.
std::string line(std::string_view label, const std::string& text, const TextStyle& style) {
  constexpr std::size_t k_label_columns = 10;
  std::string padded = fmt::format("{:<{}}", label, k_label_columns);
  std::string content = printable(text, 1000);
  if (style.width > k_label_columns + 1) {
    const std::size_t room = style.width - k_label_columns;
    std::size_t columns = 0;
    for (std::size_t i = 0; i < content.size(); ++i) {
      const bool starts_character = (static_cast<unsigned char>(content[i]) & 0xC0) != 0x80;
      if (starts_character && ++columns > room - 1 && i + 1 < content.size()) {
        content = content.substr(0, i) + "…";
        break;
      }
    }
  }
  return colored(padded, Color::dim, style) + content + "\n";
}

/// "[####====......]": used by processes and kernel, page cache, free.
std::string pool_bar(const verdicts::Budget& budget, const Known<Bytes>& cache) {
  if (!budget.total || !budget.free || budget.total->value <= 0) return "";
  const auto columns = [&](Bytes bytes) {
    return static_cast<std::size_t>(std::clamp<std::int64_t>(
        bytes.value * static_cast<std::int64_t>(k_bar_columns) / budget.total->value, 0, k_bar_columns));
  };
  const std::size_t free = columns(*budget.free);
  const std::size_t cached = std::min(columns(cache.value_or(Bytes{0})), k_bar_columns - free);
  return "[" + std::string(k_bar_columns - free - cached, '#') + std::string(cached, '=') + std::string(free, '.') +
         "] ";
}

std::string pool_line(const verdicts::BoxStatus& status) {
  if (!status.budget) return "unknown (" + status.budget.reason() + ")";
  if (!status.budget->total) return "unknown (" + status.budget->total.reason() + ")";
  return fmt::format("{}{}: {} free, {} cache", pool_bar(*status.budget, status.pool.page_cache),
                     size_or_unknown(status.budget->total), size_or_unknown(status.budget->free),
                     size_or_unknown(status.pool.page_cache));
}

std::string gpu_line(const verdicts::BoxStatus& status) {
  if (!status.gpu) return "unknown (" + status.gpu.reason() + ")";
  const facts::GpuSample& sample = *status.sample;
  std::string text(to_string(status.gpu->state));
  if (status.gpu->low_clock) text = "low clock";
  if (sample.temperature) text += fmt::format(", {:.0f} °C", sample.temperature->value);
  if (sample.power) text += fmt::format(", {:.0f} W", sample.power->value);
  if (sample.sm_clock) text += fmt::format(", {:.0f} MHz", sample.sm_clock->value);
  if (sample.utilization) text += fmt::format(", {:.0f} % busy", sample.utilization->value);
  return status.gpu->caveat.empty() ? text : text + " (" + status.gpu->caveat + ")";
}

std::string holders_line(const verdicts::BoxStatus& status) {
  std::vector<std::string> parts;
  for (const verdicts::Holder& holder : status.holders) {
    std::string part = fmt::format("{} (pid {})", holder.name, holder.pid);
    if (holder.gpu_memory)
      part += " " + format_size(*holder.gpu_memory) + " GPU";
    else if (holder.host_memory)
      part += " " + format_size(*holder.host_memory);
    parts.push_back(part);
  }
  if (parts.empty() && !status.holders_unknown.empty()) return "unknown (" + status.holders_unknown + ")";
  return parts.empty() ? "no server, trainer or GPU process seen" : join(parts, ", ");
}

}  // namespace

std::string status_text(const verdicts::BoxStatus& status, const TextStyle& style) {
  return line("box", status.platform.headline, style) + line("memory", pool_line(status), style) +
         line("headroom", headroom_text(status.budget), style) + line("gpu", gpu_line(status), style) +
         line("holders", holders_line(status), style) +
         line("job", status.job ? *status.job : "unknown (" + status.job.reason() + ")", style) +
         line("next", status.next_command + "   (" + status.next_reason + ")", style);
}

std::string status_json(const verdicts::BoxStatus& status, const std::string& root) {
  Json json = Json::object();
  json["schema"] = "sparkops.status/1";
  json["root"] = printable(root);
  json["platform"] = {{"id", status.platform.id}, {"headline", printable(status.platform.headline)}};

  Json memory = Json::object();
  store::ObjectWriter writer(memory);
  const verdicts::Budget budget = status.budget ? *status.budget : verdicts::Budget{};
  const auto known = [&](const Known<Bytes>& bytes) {
    return status.budget ? bytes : Known<Bytes>(status.budget.as_unknown());
  };
  writer.write("total_bytes", known(budget.total));
  writer.write("free_bytes", known(budget.free));
  writer.write("available_bytes", known(budget.available));
  writer.write("headroom_now_bytes", known(budget.headroom_now));
  writer.write("headroom_after_flush_bytes", known(budget.headroom_after_flush));
  writer.write("page_cache_bytes", status.pool.page_cache);
  writer.write("gpu_bytes", status.pool.gpu);
  json["memory"] = std::move(memory);

  Json gpu = Json::object();
  store::ObjectWriter gpu_writer(gpu);
  const Unknown why = status.gpu ? unknown("") : status.gpu.as_unknown();
  const facts::GpuSample sample = status.sample ? *status.sample : facts::GpuSample{};
  const auto reading = [&](const auto& value) { return status.sample ? value : std::decay_t<decltype(value)>(why); };
  gpu_writer.write("state", status.gpu.derive([](const verdicts::ClockAssessment& assessment) {
    return std::string(to_string(assessment.state));
  }));
  gpu_writer.write("temperature_c", reading(sample.temperature));
  gpu_writer.write("power_w", reading(sample.power));
  gpu_writer.write("sm_clock_mhz", reading(sample.sm_clock));
  gpu_writer.write("utilization_percent", reading(sample.utilization));
  json["gpu"] = std::move(gpu);

  json["holders"] = Json::array();
  for (const verdicts::Holder& holder : status.holders) {
    Json entry = {{"pid", holder.pid}, {"name", printable(holder.name)}, {"container", printable(holder.container)}};
    store::ObjectWriter holder_writer(entry);
    holder_writer.write("gpu_bytes", holder.gpu_memory);
    holder_writer.write("host_bytes", holder.host_memory);
    json["holders"].push_back(std::move(entry));
  }
  store::ObjectWriter(json).write("job", status.job);
  json["next"] = {{"run", status.next_command}, {"why", status.next_reason}};
  return json.dump(k_indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sparkops::views
