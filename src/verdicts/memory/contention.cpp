#include "verdicts/memory/contention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/text.h"

namespace sparkops::verdicts {

namespace {

using facts::CapKind;

std::string gib(Bytes bytes) {
  return fmt::format("{:.1f} GiB", in_gib(bytes));
}

std::string rounded_gib(Bytes bytes) {
  return fmt::format("{} GiB", std::llround(in_gib(bytes)));
}

/// Whole GiB of each part, so that they add up to the rounded sum: the largest rests are rounded up.
std::vector<std::int64_t> whole_gib(const std::vector<Bytes>& parts) {
  std::vector<std::int64_t> whole;
  std::vector<std::size_t> order;
  Bytes sum{0};
  std::int64_t given = 0;
  for (const Bytes part : parts) {
    order.push_back(whole.size());
    whole.push_back(static_cast<std::int64_t>(std::floor(in_gib(part))));
    given += whole.back();
    sum += part;
  }
  const auto rest = [&](std::size_t i) { return in_gib(parts[i]) - static_cast<double>(whole[i]); };
  std::vector<double> rests;
  for (const std::size_t i : order) rests.push_back(rest(i));
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rests[a] > rests[b]; });
  const std::int64_t missing = std::llround(in_gib(sum)) - given;
  for (std::int64_t i = 0; i < missing; ++i) ++whole[order[static_cast<std::size_t>(i) % order.size()]];
  return whole;
}

Bytes share(double fraction, Bytes pool) {
  return {static_cast<std::int64_t>(fraction * static_cast<double>(pool.value))};
}

/// Shares are compared after rounding to a millionth: 0.8 of the pool in whole bytes is still 0.8.
double share_of(Bytes bytes, Bytes pool) {
  constexpr double k_million = 1e6;
  return std::round(static_cast<double>(bytes.value) / static_cast<double>(pool.value) * k_million) / k_million;
}

bool is_fraction(CapKind kind) {
  return kind == CapKind::fraction_of_total || kind == CapKind::fraction_of_free || kind == CapKind::fraction_static;
}

std::string_view of_what(CapKind kind) {
  switch (kind) {
    case CapKind::fraction_of_free: return "of what is free at start";
    case CapKind::fraction_static: return "of the pool for weights and KV cache";
    default: return "of the pool";
  }
}

Claim claim_of_fraction(const Tenant& tenant, const Known<Bytes>& pool) {
  Claim claim;
  if (!tenant.cap.fraction) {
    claim.bytes = tenant.cap.fraction.as_unknown();
    claim.text = "a cap whose value is unknown";
    return claim;
  }
  const double fraction = *tenant.cap.fraction;
  claim.bounded = fraction <= 1.0;
  claim.bytes = pool.derive([&](Bytes total) { return share(std::min(fraction, 1.0), total); });
  claim.text = fmt::format("{}, {:g} {}", tenant.cap.setting, fraction, of_what(tenant.cap.kind));
  if (claim.bytes) claim.text += ", " + gib(*claim.bytes);
  return claim;
}

Claim claim_of_bytes(const Tenant& tenant, const Known<Bytes>& pool) {
  Claim claim;
  if (!tenant.cap.bytes || !pool) {
    claim.bytes = tenant.cap.bytes ? pool.as_unknown() : tenant.cap.bytes.as_unknown();
    claim.text = "a cap whose value is unknown";
    return claim;
  }
  claim.bounded = *tenant.cap.bytes < *pool;
  claim.text = tenant.cap.setting;
  if (!claim.bounded)
    claim.bytes = unknown(tenant.cap.setting + " is more than the pool and caps nothing");
  else if (tenant.server.value_or(facts::ServerKind::vllm) == facts::ServerKind::vllm) {
    // vLLM's figure in bytes is its KV cache alone: the weights come on top.
    claim.bytes = tenant.cap.bytes;
    claim.text += ", " + gib(*tenant.cap.bytes) + " of KV cache beside the weights";
  } else {
    claim.bytes = tenant.cap.bytes;
  }
  return claim;
}

bool is_uncapped_server(const Tenant& tenant, const Claim& claim) {
  if (tenant.kind != Tenant::Kind::server) return false;
  if (tenant.cap.kind == CapKind::none_given || tenant.cap.kind == CapKind::has_no_cap) return true;
  const bool value_known = is_fraction(tenant.cap.kind) ? tenant.cap.fraction.known() : tenant.cap.bytes.known();
  return value_known && !claim.bounded &&
         (is_fraction(tenant.cap.kind) || claim.bytes.reason().find("more than") != std::string::npos);
}

bool is_kv_cache_only(const Tenant& tenant) {
  return tenant.cap.kind == CapKind::bytes && tenant.server && *tenant.server == facts::ServerKind::vllm;
}

/// What the judgement collects; the worst status decides.
struct Findings {
  std::vector<std::string> failures, warnings, skips, readings;
  std::set<std::size_t> offenders;
  std::string trainer;  ///< the one that is about to start

  void warn(std::string clause, std::size_t tenant) {
    warnings.push_back(std::move(clause));
    offenders.insert(tenant);
  }
};

std::string uncapped_clause(const Tenant& tenant) {
  std::string clause;
  switch (tenant.cap.kind) {
    case CapKind::none_given:
      clause = tenant.name + " has no memory cap";
      if (tenant.default_fraction)
        clause += fmt::format(": its default of {:g} of the pool applies", *tenant.default_fraction);
      else
        clause += ": its default applies";
      break;
    case CapKind::has_no_cap: clause = tenant.name + " takes what it wants (it knows no cap)"; break;
    default: clause = fmt::format("{}: {} is more than the pool and caps nothing", tenant.name, tenant.cap.setting);
  }
  if (tenant.held && tenant.held->value > 0) clause += ", holds " + gib(*tenant.held);
  if (!tenant.blind_limits.empty())
    clause += fmt::format(" ({} does not see CUDA memory)", join(tenant.blind_limits, ", "));
  return clause;
}

void judge_server(const Tenant& tenant, std::size_t index, const Claim& claim, const ContentionInput& input,
                  Findings& findings) {
  if (is_uncapped_server(tenant, claim)) {
    const bool idle = tenant.is_running && tenant.loads_on_demand && tenant.held.value_or(Bytes{1}).value == 0;
    if (idle)
      findings.readings.push_back(tenant.name + " runs and holds nothing now (it loads on demand, without a cap)");
    else
      findings.warn(uncapped_clause(tenant), index);
    return;
  }
  if (!claim.bytes) {
    const Bytes held = tenant.held.value_or(Bytes{0});
    if (held >= k_light_tenant)
      return findings.warn(fmt::format("{} holds {}, {}", tenant.name, gib(held), claim.bytes.reason()), index);
    if (tenant.is_running && tenant.loads_on_demand && tenant.held && held.value == 0) {
      findings.readings.push_back(tenant.name + " runs and holds nothing now (it loads on demand, " +
                                  claim.bytes.reason() + ")");
      return;
    }
    findings.skips.push_back(tenant.name + ": " + claim.bytes.reason());
    return;
  }
  if (is_kv_cache_only(tenant) && !tenant.held) {
    findings.warn(fmt::format("{}: {}, and how large those are is not in the file", tenant.name, claim.text), index);
    return;
  }
  if (input.pool && share_of(*claim.bytes, *input.pool) >= k_near_capacity) {
    findings.warn(fmt::format("{} takes {}: nothing else fits beside it", tenant.name, claim.text), index);
    return;
  }
  findings.readings.push_back(fmt::format("{} is capped ({})", tenant.name, claim.text));
}

void judge_other(const Tenant& tenant, std::size_t index, Findings& findings) {
  if (!tenant.is_running) {
    if (findings.trainer.empty()) findings.trainer = tenant.name;
    return;
  }
  if (!tenant.held)
    findings.warn(fmt::format("{} is on the GPU, how much it holds is unknown ({})", tenant.name, tenant.held.reason()),
                  index);
  else if (*tenant.held >= k_light_tenant)
    findings.warn(fmt::format("{} holds {} without a cap", tenant.name, gib(*tenant.held)), index);
  else
    findings.readings.push_back(fmt::format("{} holds {}", tenant.name, format_size(*tenant.held)));
}

/// Those that run at the same time.
using Gathering = std::vector<std::size_t>;

bool has_profile(const Tenant& tenant, const std::string& profile) {
  return tenant.profiles.empty() ||
         std::find(tenant.profiles.begin(), tenant.profiles.end(), profile) != tenant.profiles.end();
}

/// The running ones, with each file's own: all that start together and the largest of those that take turns.
std::vector<Gathering> gatherings(const ContentionInput& input, const std::vector<Claim>& claims) {
  Gathering running;
  std::set<std::string> groups, profiles{""};
  for (std::size_t i = 0; i < input.tenants.size(); ++i) {
    const Tenant& tenant = input.tenants[i];
    if (tenant.is_running) running.push_back(i);
    if (!tenant.is_running) groups.insert(tenant.group);
    profiles.insert(tenant.profiles.begin(), tenant.profiles.end());
  }
  std::vector<Gathering> all{running};
  for (const std::string& group : groups) {
    for (const std::string& profile : profiles) {
      Gathering gathering = running;
      std::optional<std::size_t> largest;
      for (std::size_t i = 0; i < input.tenants.size(); ++i) {
        const Tenant& tenant = input.tenants[i];
        if (tenant.is_running || tenant.group != group || !has_profile(tenant, profile)) continue;
        if (tenant.order == facts::LaunchOrder::together)
          gathering.push_back(i);
        else if (!largest || claims[i].bytes.value_or(Bytes{0}) > claims[*largest].bytes.value_or(Bytes{0}))
          largest = i;
      }
      if (largest) gathering.push_back(*largest);
      all.push_back(std::move(gathering));
    }
  }
  return all;
}

void judge_gathering(const Gathering& gathering, const std::vector<Claim>& claims, const ContentionInput& input,
                     Findings& findings) {
  if (!input.pool) return;
  Bytes sum{0};
  std::vector<Bytes> sizes;
  std::vector<std::string> names;
  std::size_t trainers = 0, servers = 0;
  for (const std::size_t index : gathering) {
    const Tenant& tenant = input.tenants[index];
    if (tenant.kind == Tenant::Kind::trainer && !tenant.is_running) ++trainers;
    if (tenant.kind == Tenant::Kind::server) ++servers;
    if (!claims[index].bytes || claims[index].bytes->value == 0) continue;
    sum += *claims[index].bytes;
    sizes.push_back(*claims[index].bytes);
    names.push_back(tenant.name);
  }
  std::vector<std::string> parts;
  const std::vector<std::int64_t> whole = whole_gib(sizes);
  for (std::size_t i = 0; i < names.size(); ++i) parts.push_back(fmt::format("{} {} GiB", names[i], whole[i]));
  const Bytes left = *input.pool - sum;
  if (parts.size() >= 2 && sum >= *input.pool) {
    findings.failures.push_back(fmt::format("{} claim {} together, the pool has {}", join(parts, " and "),
                                            rounded_gib(sum), rounded_gib(*input.pool)));
    findings.offenders.insert(gathering.begin(), gathering.end());
  } else if (parts.size() >= 2 && share_of(sum, *input.pool) >= k_near_capacity) {
    findings.warnings.push_back(
        fmt::format("{} claim {} of {} together", join(parts, " and "), rounded_gib(sum), rounded_gib(*input.pool)));
    findings.offenders.insert(gathering.begin(), gathering.end());
  } else if (parts.size() == 1 && share_of(sum, *input.pool) > k_roomy_share &&
             share_of(sum, *input.pool) < k_near_capacity && left < k_worthwhile_room + input.reserve) {
    findings.warnings.push_back(fmt::format("only {} GiB of {} are left beside {}",
                                            std::llround(in_gib(*input.pool)) - whole[0], rounded_gib(*input.pool),
                                            parts[0]));
    findings.offenders.insert(gathering.begin(), gathering.end());
  }
  if (trainers >= 2) findings.warnings.push_back("several trainers start at the same time, none of them with a cap");
  if (trainers == 1 && servers > 0 && share_of(sum, *input.pool) > k_roomy_share)
    findings.warnings.push_back(
        fmt::format("the trainer has {} beside the servers, and its peak is not known here", gib(left)));
}

/// What a server refuses to start with when it is not there: vLLM's fraction is of the whole pool, and bytes are bytes.
/// The other servers take their fraction of what they find.
bool must_be_available(const Tenant& tenant) {
  if (tenant.is_running || tenant.kind != Tenant::Kind::server) return false;
  const bool is_vllm = tenant.server && *tenant.server == facts::ServerKind::vllm;
  return tenant.cap.kind == CapKind::bytes ||
         (is_vllm && (tenant.cap.kind == CapKind::fraction_of_total || tenant.cap.kind == CapKind::none_given));
}

/// A claim above what is available even after a flush. Those that run are gone from that figure already.
void judge_availability(const std::vector<Claim>& claims, const ContentionInput& input, Findings& findings) {
  if (!input.available) return;
  for (std::size_t i = 0; i < input.tenants.size(); ++i) {
    const Tenant& tenant = input.tenants[i];
    if (!must_be_available(tenant) || !claims[i].bytes || *claims[i].bytes <= *input.available) continue;
    const bool is_vllm = tenant.server && *tenant.server == facts::ServerKind::vllm;
    findings.failures.push_back(
        fmt::format("{} claims {}{}, {} are available even after a flush{}: {}", tenant.name, gib(*claims[i].bytes),
                    tenant.cap.kind == CapKind::none_given ? " (" + claims[i].text + ")" : "", gib(*input.available),
                    input.huge_pages_rule ? " (the free huge pages, as huge pages are set aside)" : "",
                    is_vllm ? "vLLM refuses to start" : "it does not fit"));
    findings.offenders.insert(i);
  }
}

/// What the largest gathering leaves, and for whom.
std::string room(const std::vector<Gathering>& all, const std::vector<Claim>& claims, const ContentionInput& input) {
  if (!input.pool) return "";
  Bytes most{0};
  for (const Gathering& gathering : all) {
    Bytes sum{0};
    for (const std::size_t index : gathering) sum += claims[index].bytes.value_or(Bytes{0});
    most = std::max(most, sum);
  }
  if (most.value == 0) return "";
  const bool trainer_comes = std::any_of(input.tenants.begin(), input.tenants.end(), [](const Tenant& tenant) {
    return tenant.kind == Tenant::Kind::trainer && !tenant.is_running;
  });
  // From the rounded figures, so that what is taken and what stays add up to the pool.
  const auto tenths = [](Bytes bytes) { return std::llround(in_gib(bytes) * 10); };
  const double left = static_cast<double>(tenths(*input.pool) - tenths(most)) / 10;
  return fmt::format("{:.1f} GiB of {} stay for {}", left, gib(*input.pool), trainer_comes ? "the trainer" : "others");
}

std::vector<std::string> without_repeats(const std::vector<std::string>& clauses) {
  std::vector<std::string> result;
  for (const std::string& clause : clauses)
    if (std::find(result.begin(), result.end(), clause) == result.end()) result.push_back(clause);
  return result;
}

/// The first clauses, and how many more there are.
std::string said(const std::vector<std::string>& clauses) {
  constexpr std::size_t k_clauses = 3;
  std::vector<std::string> shown = without_repeats(clauses);
  const std::size_t count = shown.size();
  if (count > k_clauses) shown.resize(k_clauses);
  std::string text = join(shown, "; ");
  if (count > k_clauses) text += fmt::format("; and {} more", count - k_clauses);
  return text;
}

}  // namespace

Claim claim_of(const Tenant& tenant, const Known<Bytes>& pool) {
  Claim claim;
  if (tenant.kind != Tenant::Kind::server) {
    claim.bytes = tenant.held;
    return claim;
  }
  if (is_fraction(tenant.cap.kind)) {
    claim = claim_of_fraction(tenant, pool);
  } else if (tenant.cap.kind == CapKind::bytes) {
    claim = claim_of_bytes(tenant, pool);
  } else if (tenant.cap.kind == CapKind::none_given && tenant.default_fraction) {
    claim.bytes = pool.derive([&](Bytes total) { return share(*tenant.default_fraction, total); });
    claim.text = fmt::format("default of {:g} of the pool", *tenant.default_fraction);
  } else {
    claim.bytes = tenant.held;
    claim.text = "no cap";
  }
  if (claim.bytes && tenant.held && *tenant.held > *claim.bytes) claim.bytes = tenant.held;
  return claim;
}

ContentionJudgement judge_contention(const ContentionInput& input) {
  Findings findings;
  std::vector<Claim> claims;
  for (const Tenant& tenant : input.tenants) claims.push_back(claim_of(tenant, input.pool));
  if (input.sharing_replicas && *input.sharing_replicas > 1)
    findings.warnings.push_back(
        fmt::format("{} tenants share one GPU by time slicing or MPS, without any isolation of "
                    "memory: each can take the whole pool",
                    *input.sharing_replicas));
  const std::vector<Gathering> all = gatherings(input, claims);
  judge_availability(claims, input, findings);
  for (const Gathering& gathering : all) judge_gathering(gathering, claims, input, findings);
  for (std::size_t i = 0; i < input.tenants.size(); ++i) {
    if (input.tenants[i].kind == Tenant::Kind::server)
      judge_server(input.tenants[i], i, claims[i], input, findings);
    else
      judge_other(input.tenants[i], i, findings);
  }

  ContentionJudgement judgement;
  judgement.offenders.assign(findings.offenders.begin(), findings.offenders.end());
  if (!findings.failures.empty()) {
    judgement.status = Status::fail;
    judgement.headline = said(findings.failures);
  } else if (!findings.warnings.empty()) {
    judgement.status = Status::warn;
    judgement.headline = said(findings.warnings);
  } else if (!findings.skips.empty()) {
    judgement.status = Status::skip;
    judgement.headline = said(findings.skips);
  } else {
    judgement.status = Status::pass;
    if (findings.readings.empty() && !findings.trainer.empty())
      findings.readings.push_back(findings.trainer + " is the only heavy job, no server runs beside it");
    const std::string left = room(all, claims, input);
    judgement.headline = said(findings.readings) + (left.empty() ? "" : "; " + left);
  }
  return judgement;
}

}  // namespace sparkops::verdicts
