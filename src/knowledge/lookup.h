#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "knowledge/tables.h"

namespace sparkops::knowledge {

/// A gotcha or a topic: exactly one of the two is set.
struct EntryRef {
  const GotchaEntry* gotcha = nullptr;
  const Topic* topic = nullptr;

  [[nodiscard]] const std::string& id() const { return gotcha ? gotcha->id : topic->id; }
  [[nodiscard]] const std::string& title() const { return gotcha ? gotcha->title : topic->title; }
  [[nodiscard]] const std::vector<std::string>& see_also() const { return gotcha ? gotcha->see_also : topic->see_also; }
  [[nodiscard]] const std::vector<Source>& sources() const { return gotcha ? gotcha->sources : topic->sources; }
  [[nodiscard]] const std::string& last_verified() const {
    return gotcha ? gotcha->last_verified : topic->last_verified;
  }
  explicit operator bool() const { return gotcha != nullptr || topic != nullptr; }
};

/// What a person's words lead to. Pointers live as long as the tables.
struct LookUp {
  EntryRef entry;                        ///< to be read first; empty: nothing was found
  std::vector<const Symptom*> symptoms;  ///< that the words describe, best first; empty when an entry was named
  std::vector<std::string>
      suggestions;                   ///< ids that were probably meant, by their spelling; only when nothing was found
  std::vector<std::string> nearest;  ///< ids that have most in common with the words, best first; likewise
};

/// "G3", "g03" and "3" name a gotcha, "page-cache" or "page cache" a topic; other words are compared with the symptoms
/// and titles, rare words counting more than common ones.
[[nodiscard]] LookUp look_up(const Tables& tables, std::string_view words);

/// The entries that the words name, each by itself: "G3 G4", "3, page-cache". Empty unless every word is a number or an
/// id; without repetitions.
[[nodiscard]] std::vector<EntryRef> named_entries(const Tables& tables, std::string_view words);

/// The entry with this id as the tables write it; empty when there is none.
[[nodiscard]] EntryRef find_entry(const Tables& tables, std::string_view id);

}  // namespace sparkops::knowledge
