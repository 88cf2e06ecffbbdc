#include <nlohmann/json.hpp>

#include "base/text.h"
#include "store/json_form.h"
#include "views/memory.h"

namespace sparkops::views {

namespace {

using store::Json;
using store::ObjectWriter;
using verdicts::MemoryPicture;

constexpr int k_indent = 2;

Json pool_json(const MemoryPicture& picture) {
  Json pool = Json::object();
  ObjectWriter writer(pool);
  const verdicts::Budget budget = picture.budget ? *picture.budget : verdicts::Budget{};
  const auto of_budget = [&](const Known<Bytes>& bytes) {
    return picture.budget ? bytes : Known<Bytes>(picture.budget.as_unknown());
  };
  writer.write("total_bytes", of_budget(budget.total));
  writer.write("free_bytes", of_budget(budget.free));
  writer.write("used_bytes", picture.used);
  writer.write("available_bytes", of_budget(budget.available));
  writer.write("page_cache_bytes", picture.pool.page_cache);
  writer.write("flush_gives_bytes", picture.pool.flush_gives);
  writer.write("mapped_files_bytes", picture.pool.mapped_files);
  writer.write("swap_cache_bytes", picture.pool.swap_cache);
  writer.write("anonymous_bytes", picture.pool.anonymous);
  writer.write("shared_bytes", picture.pool.shared);
  writer.write("kernel_bytes", picture.pool.kernel);
  writer.write("huge_pages_bytes", picture.pool.huge_pages);
  writer.write("gpu_bytes", picture.pool.gpu);
  writer.write("unexplained_bytes", picture.pool.unexplained);
  return pool;
}

Json budget_json(const MemoryPicture& picture) {
  Json json = Json::object();
  ObjectWriter writer(json);
  const verdicts::Budget budget = picture.budget ? *picture.budget : verdicts::Budget{};
  const auto known = [&](const Known<Bytes>& bytes) {
    return picture.budget ? bytes : Known<Bytes>(picture.budget.as_unknown());
  };
  writer.write("reserve_bytes", as_default(Bytes{budget.reserve}));
  writer.write("headroom_now_bytes", known(budget.headroom_now));
  writer.write("headroom_after_flush_bytes", known(budget.headroom_after_flush));
  json["huge_pages_rule"] = budget.huge_pages_rule;
  return json;
}

template <class T, class Member>
auto part(const Known<T>& whole, Member member) -> Known<std::decay_t<decltype(member(*whole))>> {
  if (!whole) return whole.as_unknown();
  return {member(*whole), whole.provenance()};
}

Json state_json(const MemoryPicture& picture) {
  using Block = verdicts::LargestBlock;
  using Rates = verdicts::SwapRates;
  Json json = Json::object();
  ObjectWriter writer(json);
  writer.write("largest_free_block_bytes", part(picture.largest_block, [](const Block& block) { return block.size; }));
  writer.write("largest_free_blocks", part(picture.largest_block, [](const Block& block) { return block.count; }));
  writer.write("swap_total_bytes", picture.swap_total);
  writer.write("swap_used_bytes", picture.swap_used);
  writer.write("swap_in_pages_per_s", part(picture.swapping, [](const Rates& rates) { return rates.in_pages_per_s; }));
  writer.write("swap_out_pages_per_s",
               part(picture.swapping, [](const Rates& rates) { return rates.out_pages_per_s; }));
  writer.write("pressure_some_10s_percent",
               part(picture.pressure, [](const facts::Pressure& pressure) { return pressure.some.average_10s; }));
  Known<double> full = picture.pressure ? Known<double>(picture.pressure->full.as_unknown())
                                        : Known<double>(picture.pressure.as_unknown());
  if (picture.pressure && picture.pressure->full) full = as_read(double{picture.pressure->full->average_10s});
  writer.write("pressure_full_10s_percent", full);
  return json;
}

Json holder_json(const verdicts::PoolHolder& holder) {
  Json json = {{"pid", holder.pid}, {"name", printable(holder.name)}};
  ObjectWriter writer(json);
  writer.write("owner", holder.owner);
  json["container"] = printable(holder.container);
  json["cap"] = printable(holder.cap);
  writer.write("gpu_bytes", holder.gpu);
  writer.write("anonymous_bytes", holder.anonymous);
  writer.write("shared_bytes", holder.shared);
  writer.write("file_backed_bytes", holder.file_backed);
  writer.write("swapped_bytes", holder.swapped);
  writer.write("started_at", holder.started
                                 ? Known<std::string>(to_rfc3339(*holder.started), holder.started.provenance())
                                 : Known<std::string>(holder.started.as_unknown()));
  return json;
}

Json named_json(const std::vector<facts::NamedFile>& files) {
  Json json = Json::array();
  for (const facts::NamedFile& file : files) {
    Json entry = {{"path", printable(file.path)}};
    ObjectWriter writer(entry);
    writer.write("size_bytes", file.size);
    writer.write("cached_bytes", file.cached);
    writer.write("dirty_bytes", file.dirty);
    json.push_back(std::move(entry));
  }
  return json;
}

void add_files(const MemoryPicture& picture, Json& json) {
  if (picture.files) {
    json["files"] = Json::array();
    for (const facts::CachedFile& file : *picture.files)
      json["files"].push_back({{"path", printable(file.path)},
                               {"size_bytes", file.size.value},
                               {"cached_bytes", file.cached.value},
                               {"how", file.how}});
  } else {
    json["files"] = nullptr;
    json["unknown"]["files"] = printable(picture.files.reason());
  }
  json["files_scope"] = printable(picture.files_scope);
}

Json printable_list(const std::vector<std::string>& texts) {
  Json json = Json::array();
  for (const std::string& text : texts) json.push_back(printable(text));
  return json;
}

}  // namespace

std::string memory_json(const MemoryPicture& picture, const MemorySubject& subject) {
  Json json = Json::object();
  json["schema"] = "sparkops.memory/1";
  json["root"] = printable(subject.root);
  ObjectWriter(json).write("taken_at", picture.taken
                                           ? Known<std::string>(to_rfc3339(*picture.taken), picture.taken.provenance())
                                           : Known<std::string>(picture.taken.as_unknown()));
  json["pool"] = pool_json(picture);
  json["budget"] = budget_json(picture);
  json["state"] = state_json(picture);
  json["holders"] = Json::array();
  for (const verdicts::PoolHolder& holder : picture.holders) json["holders"].push_back(holder_json(holder));
  if (picture.holders.empty() && !picture.holders_unknown.empty())
    json["unknown"]["holders"] = printable(picture.holders_unknown);
  json["orphans"] = printable_list(picture.orphans.clauses);
  json["fix"] = store::to_json(picture.orphans.fixes);
  add_files(picture, json);
  if (subject.named != nullptr) json["named"] = named_json(*subject.named);
  if (subject.named != nullptr) json["named_notes"] = printable_list(subject.named_notes);
  json["could_not"] = printable_list(picture.could_not);
  json["next"] = {{"run", printable(picture.next_command)}, {"why", picture.next_reason}};
  return json.dump(k_indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace sparkops::views
