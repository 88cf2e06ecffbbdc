#include "views/plan_json.h"

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "store/json_form.h"

namespace sparkops::views {

namespace {

using store::Json;
using verdicts::Estimate;

constexpr int k_indent = 2;

Json estimate_json(const Estimate& estimate) {
  return {{"low", verdicts::whole_bytes(estimate.low).value},
          {"value", verdicts::whole_bytes(estimate.value).value},
          {"high", verdicts::whole_bytes(estimate.high).value}};
}

Json texts(const std::vector<std::string>& lines) {
  Json list = Json::array();
  for (const std::string& line : lines) list.push_back(printable(line));
  return list;
}

Json estimates_json(const verdicts::Footprint& footprint) {
  return {{"peak_allocated_bytes", estimate_json(footprint.peak_allocated)},
          {"peak_reserved_bytes", estimate_json(footprint.peak_reserved)},
          {"process_bytes", estimate_json(footprint.process)},
          {"system_bytes", estimate_json(footprint.system)},
          {"load_bytes", estimate_json(footprint.load)},
          {"kv_cache_bytes", estimate_json(footprint.kv_cache)},
          {"activations_bytes", estimate_json(footprint.activations)}};
}

Json phases_json(const verdicts::Footprint& footprint) {
  Json list = Json::array();
  for (std::size_t i = 0; i < footprint.phases.size(); ++i) {
    const verdicts::Phase& phase = footprint.phases[i];
    list.push_back({{"phase", to_string(phase.kind)},
                    {"moment", phase.moment},
                    {"allocated_bytes", estimate_json(phase.allocated)},
                    {"system_bytes", estimate_json(phase.system)},
                    {"terms", phase.terms},
                    {"is_peak", i == footprint.peak_phase}});
  }
  return list;
}

Json terms_json(const verdicts::Footprint& footprint) {
  Json list = Json::array();
  for (const verdicts::Term& term : footprint.terms) {
    Json json{{"id", term.id},
              {"title", term.title},
              {"bytes", estimate_json(term.bytes)},
              {"formula", term.formula},
              {"filled", printable(term.filled)},
              {"source", term.source}};
    if (!term.zero_because.empty()) json["zero_because"] = term.zero_because;
    list.push_back(std::move(json));
  }
  return list;
}

Json inputs_json(const verdicts::RunShape& run) {
  Json list = Json::array();
  for (const verdicts::ResolvedInput& input : run.inputs)
    list.push_back({{"name", input.name}, {"value", printable(input.value)}, {"origin", to_string(input.provenance)}});
  return list;
}

Json model_json(const verdicts::ModelShape& model) {
  return {{"name", printable(model.name)},
          {"family", printable(model.family)},
          {"parameters", verdicts::whole_bytes(model.parameters).value},
          {"widths_known", model.widths_known}};
}

Json budget_json(const verdicts::Plan& plan) {
  Json json = Json::object();
  store::ObjectWriter writer(json);
  json["of"] = printable(plan.budget_of);
  writer.write("total_bytes", plan.budget.total);
  writer.write("free_bytes", plan.budget.free);
  writer.write("available_bytes", plan.budget.available);
  writer.write("headroom_now_bytes", plan.budget.headroom_now);
  writer.write("headroom_after_flush_bytes", plan.budget.headroom_after_flush);
  json["reserve_bytes"] = plan.budget.reserve.value;
  json["huge_pages_rule"] = plan.budget.huge_pages_rule;
  return json;
}

Json verdict_json(const verdicts::FitVerdict& verdict) {
  Json json{{"answer", to_string(verdict.answer)}, {"reason", printable(verdict.reason)}};
  store::ObjectWriter writer(json);
  writer.write("margin_now_bytes", verdict.margin_now);
  writer.write("margin_after_flush_bytes", verdict.margin_after_flush);
  return json;
}

Json anchors_json(const std::vector<verdicts::NearAnchor>& anchors) {
  Json list = Json::array();
  for (const verdicts::NearAnchor& anchor : anchors) {
    Json json{{"id", anchor.id},
              {"what", anchor.what},
              {"difference", anchor.difference},
              {"source", anchor.source},
              {"last_verified", anchor.date}};
    if (anchor.is_ceiling) {
      json["observed_ceiling_packing"] = verdicts::whole_bytes(anchor.measured).value;
    } else {
      json["quantity"] = anchor.quantity;
      json["measured_bytes"] = verdicts::whole_bytes(anchor.measured).value;
      json["estimate_bytes"] = verdicts::whole_bytes(anchor.estimate).value;
      json["is_far"] = anchor.far;
    }
    list.push_back(std::move(json));
  }
  return list;
}

Json optional_number(const std::optional<double>& value) {
  if (!value) return nullptr;
  return verdicts::whole_bytes(*value).value;
}

Json search_json(const std::optional<verdicts::FitSearch>& search) {
  if (!search) return nullptr;
  Json json{{"largest_packing", optional_number(search->packing)},
            {"largest_batch", optional_number(search->batch)},
            {"largest_rank", optional_number(search->rank)},
            {"table", Json::array()}};
  for (const verdicts::FitCell& cell : search->table)
    json["table"].push_back({{"packing", verdicts::whole_bytes(cell.packing).value},
                             {"batch", verdicts::whole_bytes(cell.batch).value},
                             {"system_bytes", estimate_json(cell.system)},
                             {"answer", to_string(cell.answer)}});
  return json;
}

Json methods_json(const std::vector<verdicts::MethodRow>& rows) {
  Json list = Json::array();
  for (const verdicts::MethodRow& row : rows) {
    Json json{{"method", row.name},
              {"system_bytes", estimate_json(row.system)},
              {"peak_phase", row.peak_phase},
              {"answer", to_string(row.verdict.answer)},
              {"reason", printable(row.verdict.reason)}};
    store::ObjectWriter(json).write("floor_s", row.floor);
    list.push_back(std::move(json));
  }
  return list;
}

Json ladder_json(const std::vector<verdicts::RungGain>& rungs) {
  Json list = Json::array();
  for (const verdicts::RungGain& rung : rungs) {
    Json json{{"id", rung.id}, {"change", rung.change}, {"suffices", rung.suffices}};
    store::ObjectWriter(json).write("gives_bytes", rung.gives);
    if (!rung.skipped_because.empty()) json["skipped_because"] = rung.skipped_because;
    list.push_back(std::move(json));
  }
  return list;
}

Json floor_json(const verdicts::TimeFloor& floor) {
  Json json{{"unit", floor.unit},
            {"how", floor.how},
            {"bandwidth_bytes_per_s", verdicts::whole_bytes(floor.bandwidth).value}};
  store::ObjectWriter writer(json);
  writer.write("moved_bytes", floor.bytes.derive([](double bytes) { return verdicts::whole_bytes(bytes); }));
  writer.write("floor_s", floor.seconds);
  return json;
}

Json beside_json(const std::optional<verdicts::BesidePlan>& beside) {
  if (!beside) return nullptr;
  Json json{{"tenant", printable(beside->tenant)},
            {"setting", printable(beside->setting)},
            {"reason", printable(beside->reason)}};
  store::ObjectWriter writer(json);
  writer.write("room_bytes", beside->room);
  writer.write("start_transient_bytes", beside->start_transient);
  return json;
}

}  // namespace

std::string plan_json(const verdicts::Plan& plan, const std::string& root) {
  const verdicts::Footprint& footprint = plan.footprint;
  Json json{{"schema", "sparkops.plan/1"},
            {"root", root},
            {"model", model_json(plan.run.model)},
            {"method", to_string(plan.run.method)},
            {"inputs", inputs_json(plan.run)},
            {"estimate", estimates_json(footprint)},
            {"peak_phase", to_string(footprint.peak().kind)},
            {"phases", phases_json(footprint)},
            {"terms", terms_json(footprint)},
            {"zero_terms", texts(footprint.zero_terms)},
            {"not_modelled", texts(footprint.not_modelled)},
            {"saves_nothing", texts(footprint.saves_nothing)},
            {"doubts", texts(footprint.doubts)},
            {"dataset", texts(plan.dataset)},
            {"unread", texts(plan.unread)},
            {"budget", budget_json(plan)},
            {"verdict", verdict_json(plan.verdict)},
            {"anchors", anchors_json(plan.anchors)},
            {"fit", search_json(plan.search)},
            {"compare", methods_json(plan.methods)},
            {"ladder", ladder_json(plan.ladder)},
            {"time_floor", floor_json(plan.floor)},
            {"beside", beside_json(plan.beside)},
            {"next", plan.next_step}};
  return json.dump(k_indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sparkops::views
