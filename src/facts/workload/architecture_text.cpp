#include "facts/workload/architecture_text.h"

#include <array>
#include <map>
#include <string>

#include "base/text.h"

namespace sparkops::facts {

namespace {

/// No decoder is wider than this in any respect; also keeps every product of two widths within 64 bits.
constexpr std::int64_t k_largest_width = 16'777'216;
constexpr std::int64_t k_most_layers = 4096;

constexpr std::array<std::string_view, 18> k_keys{"L", "h", "nh",     "nkv",   "d",      "i",     "V",   "tied", "E",
                                                  "k", "m", "shared", "dense", "window", "every", "act", "bias", "pos"};

using Values = std::map<std::string, std::string, std::less<>>;

tl::unexpected<Error> wrong(const std::string& what) {
  return failure(ErrorKind::usage,
                 "--arch: " + what + " (e.g. L=32,h=4096,nh=32,nkv=8,d=128,i=14336,V=128256,tied=no)");
}

Result<Values> read_pairs(std::string_view text) {
  Values values;
  for (const std::string_view piece : split(text, ',')) {
    const std::string_view pair = trim(piece);
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos) return wrong("'" + printable(pair, 40) + "' is no key=value");
    const std::string_view key = trim(pair.substr(0, equals));
    bool known = false;
    for (const std::string_view other : k_keys) known = known || other == key;
    if (!known) return wrong("'" + printable(key, 40) + "' is none of " + join({k_keys.begin(), k_keys.end()}, ", "));
    if (!values.emplace(key, trim(pair.substr(equals + 1))).second) return wrong(std::string(key) + " is given twice");
  }
  return values;
}

/// The number of a key; `fallback` when it is absent, an error when it is wrong or when there is no fallback.
Result<std::int64_t> width(const Values& values, std::string_view key, std::int64_t fallback = -1,
                           std::int64_t most = k_largest_width) {
  const auto found = values.find(key);
  if (found == values.end()) {
    if (fallback >= 0) return fallback;
    return wrong(std::string(key) + " is missing");
  }
  const auto number = parse_integer(found->second);
  if (!number || *number < 0 || *number > most)
    return wrong(std::string(key) + "=" + printable(found->second, 40) + " is no number from 0 to " +
                 std::to_string(most));
  return *number;
}

Result<bool> yes_or_no(const Values& values, std::string_view key) {
  const auto found = values.find(key);
  if (found == values.end()) return false;
  if (found->second == "yes" || found->second == "true" || found->second == "1") return true;
  if (found->second == "no" || found->second == "false" || found->second == "0") return false;
  return wrong(std::string(key) + " is yes or no");
}

struct Numbers {
  std::int64_t layers = 0, hidden = 0, heads = 0, key_value_heads = 0, head_dim = 0, intermediate = 0, vocabulary = 0;
  std::int64_t experts = 0, active = 0, expert_width = 0, shared = 0, dense = 0, window = 0, every = 0, positions = 0;
};

Result<Numbers> read_numbers(const Values& values) {
  Numbers numbers;
  const auto take = [&](std::string_view key, std::int64_t& into, std::int64_t fallback,
                        std::int64_t most = k_largest_width) -> Result<void> {
    const auto value = width(values, key, fallback, most);
    if (!value) return tl::unexpected(value.error());
    into = *value;
    return {};
  };
  Result<void> done = take("L", numbers.layers, -1, k_most_layers);
  if (done) done = take("h", numbers.hidden, -1);
  if (done) done = take("nh", numbers.heads, -1);
  if (done) done = take("nkv", numbers.key_value_heads, numbers.heads);
  if (done) done = take("d", numbers.head_dim, numbers.heads > 0 ? numbers.hidden / numbers.heads : 0);
  if (done) done = take("i", numbers.intermediate, 0);
  if (done) done = take("V", numbers.vocabulary, -1);
  if (done) done = take("E", numbers.experts, 0);
  if (done) done = take("k", numbers.active, 0);
  if (done) done = take("m", numbers.expert_width, 0);
  if (done) done = take("shared", numbers.shared, 0);
  if (done) done = take("dense", numbers.dense, 0);
  if (done) done = take("window", numbers.window, 0);
  if (done) done = take("every", numbers.every, 0);
  if (done) done = take("pos", numbers.positions, 0);
  if (!done) return tl::unexpected(done.error());
  if (numbers.layers < 1 || numbers.hidden < 1 || numbers.heads < 1 || numbers.vocabulary < 1)
    return wrong("L, h, nh and V are at least 1");
  if (numbers.key_value_heads < 1 || numbers.key_value_heads > numbers.heads ||
      numbers.heads % numbers.key_value_heads != 0)
    return wrong("nkv divides nh");
  if (numbers.experts == 0 && numbers.intermediate == 0) return wrong("i is missing (or E, k and m for experts)");
  if (numbers.experts > 0 && (numbers.active < 1 || numbers.active > numbers.experts || numbers.expert_width < 1))
    return wrong("with E experts, k is from 1 to E and m at least 1");
  return numbers;
}

ModelLayer layer_of(const Numbers& numbers, std::int64_t index) {
  ModelLayer layer;
  layer.query_heads = numbers.heads;
  layer.key_value_heads = numbers.key_value_heads;
  layer.head_dim = numbers.head_dim;
  const bool full = numbers.every > 0 && (index + 1) % numbers.every == 0;
  if (numbers.window > 0 && !full) layer.mixer = Mixer::sliding_attention;
  const bool dense = numbers.experts == 0 || index < numbers.dense;
  layer.feed_forward = dense ? FeedForward::dense : FeedForward::experts;
  layer.intermediate = dense ? numbers.intermediate : 0;
  return layer;
}

}  // namespace

Result<Architecture> parse_architecture(std::string_view text) {
  const auto values = read_pairs(text);
  if (!values) return tl::unexpected(values.error());
  const auto numbers = read_numbers(*values);
  if (!numbers) return tl::unexpected(numbers.error());
  const auto tied = yes_or_no(*values, "tied");
  if (!tied) return tl::unexpected(tied.error());
  const auto bias = yes_or_no(*values, "bias");
  if (!bias) return tl::unexpected(bias.error());
  Architecture architecture;
  architecture.family = "generic";
  architecture.hidden = numbers->hidden;
  architecture.vocabulary = numbers->vocabulary;
  architecture.query_heads = numbers->heads;
  architecture.key_value_heads = numbers->key_value_heads;
  architecture.head_dim = numbers->head_dim;
  architecture.intermediate = numbers->intermediate;
  architecture.tied_embeddings = *tied;
  architecture.query_key_value_bias = *bias;
  architecture.sliding_window = numbers->window;
  architecture.learned_positions = numbers->positions;
  architecture.latent = unknown("no latent attention");
  architecture.linear = unknown("no linear attention");
  architecture.state_space = unknown("no state space");
  architecture.per_layer_embedding = unknown("no embeddings of layers");
  architecture.experts = unknown("no experts");
  if (numbers->experts > 0) {
    Experts experts;
    experts.count = numbers->experts;
    experts.active = numbers->active;
    experts.intermediate = numbers->expert_width;
    experts.shared_intermediate = numbers->shared;
    architecture.experts = as_read(experts);
  }
  const auto activation = values->find("act");
  if (activation != values->end()) {
    if (activation->second != "swiglu" && activation->second != "gelu") return wrong("act is swiglu or gelu");
    architecture.gated_mlp = activation->second == "swiglu";
  }
  for (std::int64_t index = 0; index < numbers->layers; ++index)
    architecture.layers.push_back(layer_of(*numbers, index));
  return architecture;
}

}  // namespace sparkops::facts
