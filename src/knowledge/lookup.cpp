#include "knowledge/lookup.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <optional>
#include <tuple>

#include "base/text.h"

namespace sparkops::knowledge {
namespace {

constexpr std::size_t k_most_symptoms = 3;
constexpr std::size_t k_most_suggestions = 5;
constexpr std::size_t k_most_nearest = 3;
constexpr std::size_t k_longest_query = 1000;
/// "freezes" and "freezing" may stand for "freeze": the shorter form is this long at least, loses one letter at most,
/// and the longer form has this many letters more at most.
constexpr std::size_t k_shortest_stem = 4;
constexpr std::size_t k_longest_ending = 3;
constexpr double k_stem_weight = 0.8;
/// Half of what the person's words weigh must be found in a text.
constexpr double k_needed_share = 0.5;
/// Symptoms that match this much less well than the best are not shown.
constexpr double k_close_to_best = 0.6;

constexpr std::array k_empty_words{
    "the",   "and", "is",  "of",    "to",   "my",   "on",  "in",   "it",  "its",  "for", "does", "with", "at", "when",
    "after", "why", "how", "what",  "that", "this", "not", "are",  "was", "be",   "do",  "me",   "an",   "or", "but",
    "from",  "as",  "by",  "there", "then", "than", "has", "have", "get", "gets", "can", "will", "if"};

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '%';
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : to_lower(text.substr(0, k_longest_query)) + " ") {
    if (is_word_character(c)) {
      word += c;
      continue;
    }
    while (!word.empty() && word.back() == '.') word.pop_back();
    const bool says_something =
        word.size() > 1 && std::find(k_empty_words.begin(), k_empty_words.end(), word) == k_empty_words.end();
    if (says_something && std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
    word.clear();
  }
  return words;
}

/// 1 for the same word, less for two forms of one ("freeze", "freezes"), 0 otherwise.
double likeness(const std::string& a, const std::string& b) {
  if (a == b) return 1.0;
  const auto& [shorter, longer] = a.size() < b.size() ? std::tie(a, b) : std::tie(b, a);
  return shorter.size() >= k_shortest_stem && longer.starts_with(shorter.substr(0, shorter.size() - 1)) &&
                 longer.size() - shorter.size() <= k_longest_ending
             ? k_stem_weight
             : 0.0;
}

/// A symptom, topic or gotcha as the words it can be found by.
struct Candidate {
  const Symptom* symptom = nullptr;
  EntryRef entry;
  std::vector<std::string> words;

  /// Of the entry to read first.
  [[nodiscard]] const std::string& id() const { return symptom ? symptom->leads_to.front() : entry.id(); }
};

std::vector<Candidate> all_candidates(const Tables& tables) {
  std::vector<Candidate> candidates;
  for (const auto& symptom : tables.symptoms())
    candidates.push_back({&symptom, {}, words_of(symptom.text + " " + join(symptom.words, " "))});
  for (const auto& topic : tables.topics())
    candidates.push_back({nullptr, {nullptr, &topic}, words_of(topic.id + " " + topic.title)});
  for (const auto& gotcha : tables.gotchas())
    candidates.push_back({nullptr, {&gotcha, nullptr}, words_of(gotcha.title)});
  return candidates;
}

/// How much a word tells: the more texts have it, the less.
double weight_of(const std::string& word, const std::vector<Candidate>& candidates) {
  const auto holders = std::count_if(candidates.begin(), candidates.end(), [&](const Candidate& candidate) {
    return std::any_of(candidate.words.begin(), candidate.words.end(),
                       [&](const std::string& other) { return likeness(word, other) > 0; });
  });
  return 1.0 / std::sqrt(1.0 + static_cast<double>(holders));
}

double score_of(const Candidate& candidate, const std::vector<std::string>& query, const std::vector<double>& weights) {
  double score = 0;
  for (std::size_t i = 0; i < query.size(); ++i) {
    double best = 0;
    for (const auto& word : candidate.words) best = std::max(best, likeness(query[i], word));
    score += best * weights[i];
  }
  return score;
}

struct Ranked {
  double score = 0;
  const Candidate* candidate = nullptr;
};

/// The candidates in which at least this share of the query's weight was found, best first.
std::vector<Ranked> rank(const std::vector<Candidate>& candidates, const std::vector<std::string>& query,
                         double needed_share) {
  std::vector<double> weights;
  double total = 0;
  for (const auto& word : query) total += weights.emplace_back(weight_of(word, candidates));
  std::vector<Ranked> ranked;
  for (const auto& candidate : candidates) {
    const double score = score_of(candidate, query, weights);
    if (score > 0 && score >= needed_share * total) ranked.push_back({score, &candidate});
  }
  // Candidates lie in one vector: among equals the earlier one stays first.
  std::sort(ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) {
    return a.score != b.score ? a.score > b.score : a.candidate < b.candidate;
  });
  return ranked;
}

std::optional<std::int64_t> gotcha_number(std::string_view word) {
  if (!word.empty() && (word.front() == 'g' || word.front() == 'G')) word.remove_prefix(1);
  if (word.empty() || word.size() > 3) return std::nullopt;
  const bool digits = std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits ? parse_integer(word) : std::nullopt;
}

/// An id as a person may write it: "Page cache" and "page_cache" for "page-cache".
std::string as_id(std::string_view words) {
  std::string id = to_lower(trim(words));
  for (char& c : id)
    if (c == ' ' || c == '_') c = '-';
  return id;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row[b.size()];
}

/// Ids whose own letters, or those of one of their words, are a slip away from what was typed.
std::vector<std::string> suggest(const std::vector<Candidate>& candidates, std::string_view typed) {
  const std::string wanted = as_id(typed.substr(0, k_longest_query));
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const auto& candidate : candidates) {
    const std::string& id = candidate.id();
    std::size_t distance = edit_distance(wanted, to_lower(id));
    for (const auto& word : candidate.words) distance = std::min(distance, edit_distance(wanted, word));
    if (distance <= std::max<std::size_t>(1, wanted.size() / 3)) near.emplace_back(distance, id);
  }
  std::sort(near.begin(), near.end());
  std::vector<std::string> ids;
  for (const auto& [distance, id] : near)
    if (ids.size() < k_most_suggestions && std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  return ids;
}

/// How many runs of so many letters of `word` the other one has, as a share of the shorter one's.
double common_runs(std::string_view word, std::string_view other, std::size_t run) {
  if (word.size() < run || other.size() < run) return 0;
  std::size_t found = 0;
  for (std::size_t at = 0; at + run <= word.size(); ++at)
    if (contains(other, word.substr(at, run))) ++found;
  return static_cast<double>(found) / static_cast<double>(std::min(word.size(), other.size()) - run + 1);
}

/// Three letters in a row tell something; two only where nothing else does.
double closest_letters(const Candidate& candidate, const std::vector<std::string>& query) {
  constexpr std::size_t k_longest_word = 64;
  constexpr double k_weight_of_pairs = 0.1;
  double best = 0;
  for (const auto& long_word : query) {
    const auto word = std::string_view(long_word).substr(0, k_longest_word);
    for (const auto& other : candidate.words)
      best = std::max(best, common_runs(word, other, 3) + k_weight_of_pairs * common_runs(word, other, 2));
  }
  return best;
}

/// Where to read on when nothing fits: entries with a word of the query, then those with words spelt alike.
std::vector<std::string> nearest(const std::vector<Candidate>& candidates, const std::vector<std::string>& query) {
  std::vector<std::string> ids;
  const auto add = [&](const Candidate& candidate) {
    if (ids.size() < k_most_nearest && std::find(ids.begin(), ids.end(), candidate.id()) == ids.end())
      ids.push_back(candidate.id());
  };
  for (const auto& ranked : rank(candidates, query, 0)) add(*ranked.candidate);
  std::vector<Ranked> alike;
  for (const auto& candidate : candidates)
    if (const double letters = closest_letters(candidate, query); letters > 0) alike.push_back({letters, &candidate});
  std::stable_sort(alike.begin(), alike.end(), [](const Ranked& a, const Ranked& b) { return a.score > b.score; });
  for (const auto& ranked : alike) add(*ranked.candidate);
  return ids;
}

/// A gotcha by its number or an entry by its id.
EntryRef named_entry(const Tables& tables, std::string_view words) {
  if (const auto number = gotcha_number(trim(words)))
    if (const auto entry = find_entry(tables, "G" + std::to_string(*number))) return entry;
  return find_entry(tables, as_id(words));
}

}  // namespace

EntryRef find_entry(const Tables& tables, std::string_view id) {
  for (const auto& gotcha : tables.gotchas())
    if (gotcha.id == id) return {&gotcha, nullptr};
  for (const auto& topic : tables.topics())
    if (topic.id == id) return {nullptr, &topic};
  return {};
}

std::vector<EntryRef> named_entries(const Tables& tables, std::string_view words) {
  if (const auto entry = named_entry(tables, words)) return {entry};
  std::string parted(words.substr(0, k_longest_query));
  std::replace(parted.begin(), parted.end(), ',', ' ');
  std::vector<EntryRef> entries;
  for (const std::string_view word : split_words(parted)) {
    const EntryRef entry = named_entry(tables, word);
    if (!entry) return {};
    const auto same = [&](const EntryRef& other) { return other.id() == entry.id(); };
    if (std::none_of(entries.begin(), entries.end(), same)) entries.push_back(entry);
  }
  return entries;
}

LookUp look_up(const Tables& tables, std::string_view words) {
  LookUp result;
  if (const auto entry = named_entry(tables, words)) return {entry, {}, {}, {}};

  const auto candidates = all_candidates(tables);
  const auto ranked = rank(candidates, words_of(words), k_needed_share);
  if (ranked.empty()) return {{}, {}, suggest(candidates, words), nearest(candidates, words_of(words))};
  for (const auto& [score, candidate] : ranked)
    if (candidate->symptom && result.symptoms.size() < k_most_symptoms && score >= k_close_to_best * ranked[0].score)
      result.symptoms.push_back(candidate->symptom);
  const Candidate& best = *ranked.front().candidate;
  result.entry = best.symptom ? find_entry(tables, best.symptom->leads_to.front()) : best.entry;
  return result;
}

}  // namespace sparkops::knowledge
