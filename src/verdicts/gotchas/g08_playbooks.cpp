#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

#include "base/text.h"
#include "verdicts/gotchas/gotcha.h"

namespace sparkops::verdicts {

namespace {

constexpr const char* k_pytorch_image = "nvcr.io/nvidia/pytorch";
constexpr std::size_t k_longest_list = 8;
constexpr std::size_t k_short_commit = 10;
constexpr std::size_t k_date_length = 10;  // "2026-11-30T…"

bool is_word_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Where `wanted` stands as a whole word ("CUDA=cuda" is not in "CUDA=cuda_v13"), or npos.
std::size_t find_whole(std::string_view text, std::string_view wanted) {
  for (auto at = text.find(wanted); at != std::string_view::npos; at = text.find(wanted, at + 1)) {
    const auto end = at + wanted.size();
    const bool joined_before = at > 0 && is_word_character(text[at - 1]) && is_word_character(wanted.front());
    const bool joined_after = end < text.size() && is_word_character(text[end]) && is_word_character(wanted.back());
    if (!joined_before && !joined_after) return at;
  }
  return std::string_view::npos;
}

/// One playbook of the clone with what is known about it.
struct Judged {
  std::string name;
  const knowledge::PlaybookEntry* known = nullptr;
  std::vector<std::string> stale;  ///< "nvidia/vllm/README.md:277: Reinstall CUDA 12.9"
  bool has_text = false;

  [[nodiscard]] bool known_bad() const {
    if (!known) return false;
    return !stale.empty() || (known->status == "broken" && known->stale_strings.empty());
  }
};

void look_for_stale_text(Judged& judged, const facts::PlaybookClone& clone) {
  const std::string folder = "nvidia/" + judged.name + "/";
  for (const auto& [file, text] : clone.texts) {
    if (!file.starts_with(folder)) continue;
    judged.has_text = true;
    if (!judged.known) continue;
    for (const auto& wanted : judged.known->stale_strings) {
      const auto at = find_whole(text, wanted);
      if (at == std::string::npos) continue;
      const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
      judged.stale.push_back(fmt::format("{}:{}: {}", printable(file, 200), line, wanted));
    }
  }
}

std::vector<Judged> judge_playbooks(const PreflightFacts& facts) {
  std::vector<Judged> all;
  for (const auto& name : facts.playbook->playbooks) {
    Judged judged;
    judged.name = name;
    for (const auto& entry : facts.knowledge.playbooks())
      if (entry.playbook == name) judged.known = &entry;
    look_for_stale_text(judged, *facts.playbook);
    all.push_back(std::move(judged));
  }
  return all;
}

/// The newest date on which an entry of the table was verified (ISO dates compare as text).
std::string table_date(const knowledge::Tables& tables) {
  std::string date;
  for (const auto& entry : tables.playbooks()) date = std::max(date, entry.last_verified);
  return date;
}

std::string date_of(Timestamp time) {
  return to_rfc3339(time).substr(0, k_date_length);
}

/// The highest "YY.MM" tag of NGC's PyTorch image that a playbook names, as YYMM; nothing when it names none.
std::optional<int> newest_image_tag(std::string_view text) {
  std::optional<int> newest;
  const std::string prefix = std::string(k_pytorch_image) + ":";
  for (auto at = text.find(prefix); at != std::string_view::npos; at = text.find(prefix, at + 1)) {
    const auto tag = text.substr(at + prefix.size(), 5);  // "25.11"
    if (tag.size() < 5 || tag[2] != '.') continue;
    const auto year = parse_integer(tag.substr(0, 2));
    const auto month = parse_integer(tag.substr(3, 2));
    if (year && month) newest = std::max(newest.value_or(0), static_cast<int>(*year * 100 + *month));
  }
  return newest;
}

/// "nvidia/unsloth names pytorch:25.09, …" for playbooks whose newest image is older than the stack table's.
std::vector<std::string> old_images(const PreflightFacts& facts) {
  std::vector<std::string> old;
  for (const auto& package : facts.knowledge.stack()) {
    if (package.name != k_pytorch_image) continue;
    const auto known_good = newest_image_tag(std::string(k_pytorch_image) + ":" + package.version);
    for (const auto& name : facts.playbook->playbooks) {
      std::optional<int> newest;
      for (const auto& [file, text] : facts.playbook->texts)
        if (file.starts_with("nvidia/" + name + "/"))
          if (const auto tag = newest_image_tag(text)) newest = std::max(newest.value_or(0), *tag);
      if (known_good && newest && *newest < *known_good)
        old.push_back(fmt::format("{} uses {}:{:02}.{:02}, older than the {} of the stack table", printable(name, 60),
                                  k_pytorch_image, *newest / 100, *newest % 100, package.version));
    }
  }
  return old;
}

std::string list_of(const std::vector<std::string>& names) {
  std::vector<std::string> shown(names.begin(),
                                 names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), k_longest_list)));
  std::string text = join(shown, ", ");
  if (names.size() > shown.size()) text += fmt::format(" and {} more", names.size() - shown.size());
  return text;
}

/// Issues whose title names the playbook, as GitHub gave them a moment ago.
std::vector<std::string> issues_naming(const std::vector<facts::Issue>& issues, const std::string& playbook) {
  std::string words = playbook;
  std::replace(words.begin(), words.end(), '-', ' ');
  std::vector<std::string> found;
  for (const auto& issue : issues)
    if (contains_ignoring_case(issue.title, playbook) || contains_ignoring_case(issue.title, words))
      found.push_back(fmt::format("{}: {}", issue.number, issue.title));
  return found;
}

class Judgement {
 public:
  explicit Judgement(const PreflightFacts& facts)
      : facts_(facts),
        playbooks_(judge_playbooks(facts)),
        date_(table_date(facts.knowledge)),
        from_table_{Origin::knowledge, date_} {
    finding_.id = "G8";
    finding_.where = Where::workload;
  }

  Finding result() {
    add_readings();
    add_issues();
    if (std::none_of(playbooks_.begin(), playbooks_.end(), [](const Judged& one) { return one.has_text; })) {
      finding_.status = Status::skip;
      finding_.headline = facts_.playbook->not_read.empty()
                              ? "no playbook's text was found in " + printable(facts_.playbook->directory, 200)
                              : "the playbook could not be read: " + printable(facts_.playbook->not_read.front(), 300);
      return finding_;
    }
    if (!warn_of_stale_rows() && !warn_of_age()) inform_or_pass();
    if (facts_.open_issues != nullptr && !*facts_.open_issues)
      finding_.headline += "; GitHub did not tell (" + printable(facts_.open_issues->reason(), 300) + ")";
    return finding_;
  }

 private:
  void add_readings() {
    const auto& clone = *facts_.playbook;
    const auto commit = clone.commit ? clone.commit->substr(0, k_short_commit) : "unknown: " + clone.commit.reason();
    finding_.evidence.push_back({"commit " + printable(commit, 200), {Origin::read, {}}});
    if (clone.commit_time)
      finding_.evidence.push_back({"checked out " + date_of(*clone.commit_time), clone.commit_time.provenance()});
    for (const auto& playbook : playbooks_) {
      for (const auto& text : playbook.stale) finding_.evidence.push_back({text, {Origin::read, {}}});
      if (!playbook.known) unknown_.push_back(printable(playbook.name, 60));
    }
    for (const auto& reason : clone.not_read)
      finding_.evidence.push_back({"not read: " + printable(reason, 300), {Origin::read, {}}});
    images_ = old_images(facts_);
    for (const auto& image : images_) finding_.evidence.push_back({image, from_table_});
  }

  /// Open issues: GitHub's of today when it was asked and answered, else the table's.
  void add_issues() {
    const bool asked = facts_.open_issues != nullptr;
    const bool answered = asked && *facts_.open_issues;
    if (asked && !answered)
      finding_.evidence.push_back(
          {"GitHub was asked and did not tell: " + printable(facts_.open_issues->reason(), 300), {Origin::read, {}}});
    for (const auto& playbook : playbooks_) {
      std::vector<std::string> issues;
      if (answered)
        issues = issues_naming(**facts_.open_issues, playbook.name);
      else if (playbook.known)
        issues = playbook.known->open_issues;
      for (const auto& issue : issues) {
        finding_.evidence.push_back({fmt::format("open issue {} ({})", issue, printable(playbook.name, 60)),
                                     answered ? Provenance{Origin::read, {}} : from_table_});
        issues_.push_back(issue);
      }
      if (!playbook.known) continue;
      for (const auto& source : playbook.known->sources)
        if (!source.url.empty() && (playbook.known_bad() || !issues.empty())) finding_.sources.push_back(source.url);
    }
    issues_as_of_ = answered ? date_of(facts_.now) : date_;
  }

  bool warn_of_stale_rows() {
    std::vector<std::string> bad;
    const Judged* first = nullptr;
    for (const auto& playbook : playbooks_) {
      if (!playbook.known_bad()) continue;
      if (!first) first = &playbook;
      bad.push_back(playbook.name);
      finding_.fixes.push_back(fix(playbook.name + ": " + playbook.known->fix));
    }
    if (!first) return false;
    finding_.status = Status::warn;
    const std::string where = first->stale.empty() ? "" : " (" + first->stale.front() + ")";
    finding_.headline =
        bad.size() == 1
            ? fmt::format("playbook {}: {}{}", first->name, first->known->problem, where)
            : fmt::format("{} playbooks of this clone have rows known to be out of date: {}", bad.size(), list_of(bad));
    finding_.fixes.push_back(update_fix());
    return true;
  }

  /// Older than the table and than what counts as old: nobody has compared it with anything recent.
  bool warn_of_age() {
    const auto& time = facts_.playbook->commit_time;
    if (!time) return false;
    const auto age = knowledge::age_in_days(date_of(*time), facts_.now);
    if (date_of(*time) >= date_ || !age || *age <= knowledge::k_stale_after_days) return false;
    finding_.status = Status::warn;
    finding_.headline = fmt::format(
        "the clone stands where it was on {}, {} days ago; none of the rows known to be "
        "out of date is in {}",
        date_of(*time), *age, subject());
    finding_.fixes.push_back(update_fix());
    return true;
  }

  void inform_or_pass() {
    std::vector<std::string> notes;
    if (!unknown_.empty()) notes.push_back("nothing is known about " + list_of(unknown_));
    if (!issues_.empty()) notes.push_back(fmt::format("open issues as of {}: {}", issues_as_of_, list_of(issues_)));
    if (!images_.empty()) notes.push_back(images_.front());
    if (facts_.playbook->commit_time && date_of(*facts_.playbook->commit_time) < date_)
      notes.push_back(fmt::format("checked out {}, before the table's date", date_of(*facts_.playbook->commit_time)));
    if (!facts_.playbook->not_read.empty())
      notes.push_back(fmt::format("{} of its files could not be read", facts_.playbook->not_read.size()));
    finding_.status = notes.empty() ? Status::pass : Status::info;
    finding_.headline = fmt::format("no row known to be out of date in {} (table of {})", subject(), date_);
    for (const auto& note : notes) finding_.headline += "; " + note;
  }

  [[nodiscard]] std::string subject() const {
    return playbooks_.size() == 1 ? "playbook " + printable(playbooks_.front().name, 60)
                                  : fmt::format("{} playbooks", playbooks_.size());
  }

  static Fix fix(const std::string& instruction) {
    return {.run = "", .instruction = instruction, .needs_root = false, .changes = "", .verify = ""};
  }

  [[nodiscard]] Fix update_fix() const {
    return {.run = facts_.playbook->commit ? "git -C " + shell_quoted({facts_.playbook->directory}) + " pull" : "",
            .instruction = "a newer revision may have the repaired text",
            .needs_root = false,
            .changes = "the clone",
            .verify = "sparkops preflight --only G8 --playbook " + shell_quoted({facts_.playbook->directory})};
  }

  const PreflightFacts& facts_;
  std::vector<Judged> playbooks_;
  std::string date_;
  Provenance from_table_;
  Finding finding_;
  std::vector<std::string> unknown_, issues_, images_;
  std::string issues_as_of_;
};

}  // namespace

Finding check_g08_playbooks(const PreflightFacts& facts) {
  if (!facts.playbook) return not_applicable("G8", "no playbook is followed; --playbook DIR names a clone");
  return Judgement(facts).result();
}

}  // namespace sparkops::verdicts
