#include "verdicts/memory/sharing_advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"

namespace sparkops::verdicts {

namespace {

using facts::CapKind;

/// What a server is best capped at beside a training run, where nothing says that it needs more.
constexpr int k_advised_percent = 40;
/// Proposed fractions are multiples of this; the smallest that makes sense for a model.
constexpr int k_step_percent = 5;
constexpr int k_smallest_percent = 10;
constexpr int k_hundred = 100;
/// On top of the weights for KV cache, activations and graphs.
constexpr double k_beside_weights = 1.2;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Bytes of one parameter with its share of the scales. Unquantised checkpoints are published in 16 bits.
double bytes_per_parameter(const std::string& format) {
  constexpr double k_four_bits = 0.5625;  // NVFP4: 4 bits and one byte for 16 values
  constexpr double k_eight_bits = 1.0;
  constexpr double k_sixteen_bits = 2.0;
  constexpr double k_bits_in_byte = 8.0;
  const std::string name = to_lower(format);
  for (const std::string_view four : {"fp4", "nf4", "int4", "awq", "gptq", "w4a16", "w4a8", "bnb", "exl3"})
    if (contains(name, four)) return k_four_bits;
  for (const std::string_view eight : {"fp8", "int8", "w8a8"})
    if (contains(name, eight)) return k_eight_bits;
  const std::size_t digit = name.starts_with("iq") ? 2 : 1;  // q4_k_m, iq3_xxs
  if ((name.starts_with('q') || name.starts_with("iq")) && digit < name.size() && is_digit(name[digit]))
    return (name[digit] - '0' + 0.5) / k_bits_in_byte;
  if (name == "float32" || name == "fp32") return 2 * k_sixteen_bits;
  return k_sixteen_bits;
}

/// The number that ends right before `end`, with the place where it starts.
struct Number {
  double value;
  std::size_t start;
};
std::optional<Number> number_before(std::string_view text, std::size_t end) {
  std::size_t start = end;
  while (start > 0 && (is_digit(text[start - 1]) || text[start - 1] == '.')) --start;
  while (start < end && text[start] == '.') ++start;
  const auto value = parse_number(text.substr(start, end - start));
  if (!value || *value <= 0) return std::nullopt;
  return Number{*value, start};
}

/// Billions of parameters: "32B", "0.6b", "8x7B". Never the "3B" of "A3B".
std::optional<double> billions(std::string_view name) {
  constexpr double k_most = 5000;
  for (std::size_t at = 1; at < name.size(); ++at) {
    if (name[at] != 'B' && name[at] != 'b') continue;
    if (at + 1 < name.size() && (is_letter(name[at + 1]) || is_digit(name[at + 1]))) continue;
    const auto number = number_before(name, at);
    if (!number) continue;
    double value = number->value;
    if (number->start > 1 && to_lower(name.substr(number->start - 1, 1)) == "x") {
      const auto experts = number_before(name, number->start - 1);
      if (!experts) continue;
      value *= experts->value;
    } else if (number->start > 0 && is_letter(name[number->start - 1])) {
      continue;
    }
    if (value <= k_most) return value;
  }
  return std::nullopt;
}

std::string gib(Bytes bytes) {
  return fmt::format("{:.1f} GiB", in_gib(bytes));
}

std::string fraction_text(int percent) {
  return fmt::format("{:g}", static_cast<double>(percent) / k_hundred);
}

Bytes part_of(Bytes pool, int percent) {
  return {pool.value / k_hundred * percent};
}

/// Plans the caps one after the other; what was proposed for one counts for the next.
class Planner {
 public:
  Planner(const ContentionInput& input, const std::vector<std::size_t>& offenders)
      : input_(input), pool_(input.pool.value_or(Bytes{0})) {
    for (std::size_t i = 0; i < input.tenants.size(); ++i) {
      claims_.push_back(claim_of(input.tenants[i], input.pool).bytes.value_or(Bytes{0}));
      planned_.push_back(claims_.back());
      const bool will_be_capped = std::find(offenders.begin(), offenders.end(), i) != offenders.end() &&
                                  takes_a_fraction(input.tenants[i]) && is_uncapped(input.tenants[i]);
      if (will_be_capped) planned_[i] = std::min(claims_[i], part_of(pool_, wished_percent(input.tenants[i])));
    }
  }

  [[nodiscard]] Bytes claim(std::size_t index) const { return claims_[index]; }

  static bool is_uncapped(const Tenant& tenant) {
    return tenant.cap.kind == CapKind::none_given || tenant.cap.kind == CapKind::has_no_cap;
  }

  Fix fix(std::size_t index) {
    const Tenant& tenant = input_.tenants[index];
    Fix fix;
    fix.verify = "sparkops preflight --only G6";
    if (tenant.kind != Tenant::Kind::server)
      fix.instruction = fmt::format("let {} finish or stop it before the next heavy job", tenant.name);
    else if (takes_a_fraction(tenant))
      fix.instruction = fraction_advice(index);
    else if (tenant.cap.kind == CapKind::bytes)
      fix.instruction = tenant.is_running
                            ? fmt::format("stop {} before the run", tenant.name)
                            : fmt::format(
                                  "start {} when nothing heavy runs beside it: {} is set, and its weights come "
                                  "on top",
                                  tenant.name, tenant.cap.setting);
    else if (!is_uncapped(tenant))
      fix.instruction = set_already(tenant);
    else
      fix.instruction =
          fmt::format("{}: {}", tenant.name, tenant.cap_advice.empty() ? "stop it before the run" : tenant.cap_advice);
    return fix;
  }

 private:
  /// Servers whose option is a fraction of the whole pool, and whose cap is not a number of bytes that overrides it.
  static bool takes_a_fraction(const Tenant& tenant) {
    return tenant.kind == Tenant::Kind::server && tenant.default_fraction && tenant.cap_option.starts_with("--") &&
           tenant.cap.kind != CapKind::bytes;
  }

  [[nodiscard]] std::optional<Bytes> need(const Tenant& tenant) const {
    const auto weights = weights_of_name(tenant.model, tenant.number_format);
    if (!weights) return std::nullopt;
    return Bytes{static_cast<std::int64_t>(k_beside_weights * static_cast<double>(weights->bytes.value))};
  }

  [[nodiscard]] int wished_percent(const Tenant& tenant) const {
    const auto needed = need(tenant);
    if (!needed || pool_.value == 0) return k_advised_percent;
    const double percent = static_cast<double>(needed->value) / static_cast<double>(pool_.value) * k_hundred;
    if (percent > k_hundred) return k_hundred + k_step_percent;
    return std::max(k_advised_percent, static_cast<int>(std::ceil(percent / k_step_percent)) * k_step_percent);
  }

  /// What runs at the same time as this tenant.
  [[nodiscard]] bool runs_beside(std::size_t index, std::size_t other) const {
    const Tenant& a = input_.tenants[index];
    const Tenant& b = input_.tenants[other];
    if (index == other) return false;
    if (a.is_running || b.is_running) return true;
    const bool together = a.order == facts::LaunchOrder::together && b.order == facts::LaunchOrder::together;
    return a.group == b.group && together;
  }

  /// The largest fraction that keeps G6's rule: in percent, 0 when there is none.
  [[nodiscard]] int largest_percent(std::size_t index) const {
    const Tenant& tenant = input_.tenants[index];
    Bytes others{0};
    bool trainer_comes = false;
    for (std::size_t i = 0; i < input_.tenants.size(); ++i) {
      if (runs_beside(index, i)) others += planned_[i];
      const Tenant& other = input_.tenants[i];
      trainer_comes = trainer_comes || (other.kind == Tenant::Kind::trainer && !other.is_running);
    }
    const auto near = static_cast<int>(k_near_capacity * k_hundred);
    const auto roomy = static_cast<int>(k_roomy_share * k_hundred);
    for (int percent = trainer_comes ? roomy : near - k_step_percent; percent >= k_smallest_percent;
         percent -= k_step_percent) {
      const Bytes sum = part_of(pool_, percent) + others;
      const Bytes left = pool_ - sum;
      const bool too_little = percent > roomy && left < k_worthwhile_room + input_.reserve;
      const bool trainer_starved = trainer_comes && sum > part_of(pool_, roomy);
      const bool refused = !tenant.is_running && input_.available && part_of(pool_, percent) > *input_.available;
      if (sum < part_of(pool_, near) && !too_little && !trainer_starved && !refused) return percent;
    }
    return 0;
  }

  static std::string set_already(const Tenant& tenant) {
    if (tenant.is_running) return fmt::format("stop {} before the run", tenant.name);
    return fmt::format("start {} when the others have ended: it is capped already ({})", tenant.name,
                       tenant.cap.setting);
  }

  std::string fraction_advice(std::size_t index) {
    const Tenant& tenant = input_.tenants[index];
    if (pool_.value == 0)
      return fmt::format("bound {} with {} and room for its weights and KV cache", tenant.name, tenant.cap_option);
    const auto weights = weights_of_name(tenant.model, tenant.number_format);
    const auto needed = need(tenant);
    const bool fits_shared = needed && *needed < part_of(pool_, static_cast<int>(k_near_capacity * k_hundred));
    const bool too_little = fits_shared && !tenant.is_running && input_.available && *needed > *input_.available;
    if (too_little)
      return fmt::format("start {} when {} are free: {} are {} of weights, with KV cache about that", tenant.name,
                         gib(*needed), weights->basis, gib(weights->bytes));
    const int largest = largest_percent(index);
    const int percent = std::min(largest, wished_percent(tenant));
    if (needed && part_of(pool_, percent) < *needed)
      return fmt::format(
          "{} cannot share the box: {} are {} of weights, with KV cache about {}{}", tenant.name, weights->basis,
          gib(weights->bytes), gib(*needed),
          tenant.is_running ? "; stop it before the run" : "; run it alone, on more boxes, or take a smaller model");
    if (percent < k_smallest_percent)
      return tenant.is_running ? fmt::format("stop {} before the run", tenant.name)
                               : fmt::format("start {} when the others have ended", tenant.name);
    const bool is_set = tenant.cap.fraction && *tenant.cap.fraction * k_hundred < percent + 0.5;
    if (is_set) return set_already(tenant);
    planned_[index] = part_of(pool_, percent);
    std::string text = fmt::format("{} {} with {} {}", tenant.is_running ? "restart" : "start", tenant.name,
                                   tenant.cap_option, fraction_text(percent)) +
                       (tenant.is_running ? ", or stop it before the run" : "");
    const std::string size = fmt::format("{} of the pool is {}", fraction_text(percent), gib(planned_[index]));
    if (weights)
      return text + fmt::format(" ({}: {} are {} of weights, the rest is for KV cache)", size, weights->basis,
                                gib(weights->bytes));
    return text + fmt::format(" ({}: it must hold weights and KV cache)", size);
  }

  const ContentionInput& input_;
  Bytes pool_;
  std::vector<Bytes> claims_;   ///< now
  std::vector<Bytes> planned_;  ///< with what was proposed
};

/// The workload's before what runs, those without a cap before those with one, the largest first.
std::vector<std::size_t> by_helpfulness(const ContentionInput& input, const Planner& planner,
                                        std::vector<std::size_t> order) {
  const auto rank = [&](std::size_t index) {
    const Tenant& tenant = input.tenants[index];
    const bool capped = tenant.kind == Tenant::Kind::server && !Planner::is_uncapped(tenant);
    return std::array<std::int64_t, 3>{tenant.is_running ? 1 : 0, capped ? 1 : 0, -planner.claim(index).value};
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
  return order;
}

}  // namespace

std::optional<NamedWeights> weights_of_name(const Known<std::string>& model, const Known<std::string>& number_format) {
  if (!model) return std::nullopt;
  const std::size_t slash = model->find_last_not_of('/') == std::string::npos
                                ? std::string::npos
                                : model->rfind('/', model->find_last_not_of('/'));
  const std::string_view name = std::string_view(*model).substr(slash == std::string::npos ? 0 : slash + 1);
  const auto size = billions(name);
  if (!size) return std::nullopt;
  constexpr double k_billion = 1e9;
  const double bytes = *size * k_billion * bytes_per_parameter(number_format.value_or(""));
  return NamedWeights{Bytes{static_cast<std::int64_t>(bytes)},
                      fmt::format("{:g}B in {}", *size, number_format ? printable(*number_format, 20) : "16 bits")};
}

std::vector<Fix> sharing_fixes(const ContentionInput& input, const std::vector<std::size_t>& offenders) {
  Planner planner(input, offenders);
  std::vector<Fix> fixes;
  for (const std::size_t index : by_helpfulness(input, planner, offenders)) fixes.push_back(planner.fix(index));
  return fixes;
}

}  // namespace sparkops::verdicts
