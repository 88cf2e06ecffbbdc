#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/known.h"
#include "base/quantities.h"
#include "base/result.h"
#include "base/timestamp.h"

namespace sparkops::knowledge {

/// A published source: what it says is dated, and may be contested.
struct Source {
  std::string title;
  std::string url;  ///< may be empty
};

/// One of the ten gotchas (knowledge/gotchas.yaml).
struct GotchaEntry {
  std::string id;     ///< "G1"
  std::string title;  ///< a few words
  std::string symptom, cause, check, fix;
  std::string how_sure;               ///< confidence in words
  std::string later_evidence;         ///< what later public evidence changed; empty when nothing did
  std::vector<std::string> see_also;  ///< topics and gotchas
  std::vector<Source> sources;
  std::string last_verified;  ///< ISO 8601 date
};

/// A topic that `explain` knows besides the ten (knowledge/topics.yaml).
struct Topic {
  std::string id;  ///< slug
  std::string title;
  std::string text;
  std::vector<std::string> see_also;
  std::vector<Source> sources;
  std::string last_verified;
};

/// What a person sees, and the gotchas or topics that explain it (knowledge/symptoms.yaml).
struct Symptom {
  std::string text;                   ///< "training stops and SSH is dead"
  std::vector<std::string> words;     ///< further words a person may use
  std::vector<std::string> leads_to;  ///< ids of gotchas and topics; their sources are this entry's
  std::string last_verified;
};

/// What a server does when nobody sets its cap (knowledge/servers.yaml).
struct ServerDefaults {
  std::string server;                      ///< as facts::to_string(ServerKind)
  std::string name;                        ///< as its makers write it
  std::string cap_option;                  ///< the option that caps it; empty when it has none
  std::optional<double> default_fraction;  ///< of the pool, when the default is such a fraction
  std::string default_text;                ///< the default in words
  std::string cap_advice;                  ///< how to cap it, ready to paste
  std::vector<Source> sources;
  std::string last_verified;
};

/// A machine to judge a workload against when this one is another (knowledge/platforms.yaml).
struct Platform {
  std::string id;    ///< "gb10"
  std::string name;  ///< "NVIDIA DGX Spark (GB10)"
  Bytes pool;        ///< MemTotal
  std::string architecture;
  int cuda_major = 0;
  int capability_major = 0, capability_minor = 0;
  std::string management_interface;                    ///< the 10 GbE port, never meant for collectives
  std::string bandwidth_text;                          ///< the published range with its conventions
  std::int64_t copy_low_gb_s = 0, copy_high_gb_s = 0;  ///< of a large tensor, read and written bytes both counted
  std::int64_t read_gb_s = 0;                          ///< the highest published figure of a kernel that only reads
  std::vector<Source> sources;
  std::string last_verified;
};

/// One row of knowledge/playbooks.yaml.
struct PlaybookEntry {
  std::string playbook;  ///< directory name under nvidia/ in the playbook repository
  std::string status;    ///< "ok", "stale", "broken"
  std::string problem, fix;
  std::vector<std::string> stale_strings;  ///< texts whose presence in the playbook shows the stale row is still there
  std::vector<std::string> open_issues;    ///< "102: NCCL 200G, 16G test froze a node"
  std::vector<Source> sources;
  std::string last_verified;
};

/// One package of knowledge/stack.yaml: what is known to work together.
struct StackPackage {
  std::string name;
  std::string version;     ///< known good
  std::string constraint;  ///< PEP 440 specifier that must hold, or empty
  std::string note;
  std::vector<Source> sources;
  std::string last_verified;
};

/// One model of knowledge/models.yaml.
struct ModelEntry {
  std::string name;
  std::vector<std::string> aliases;
  /// Fields of its config.json that decide its size, in the order of the file: "hidden_size", "4096". A nested one has
  /// a dotted name, a list is words with blanks between them.
  std::vector<std::pair<std::string, std::string>> config;
  std::optional<std::int64_t> parameters;  ///< decoder and towers, without MTP blocks
  std::string verified;                    ///< "total", "dimensions", "no"
  std::string note;                        ///< may be empty
  std::vector<Source> sources;
  std::string last_verified;
};

/// A published footprint, or the longest run that was seen to work (knowledge/anchors.yaml).
struct AnchorEntry {
  std::string id;
  std::string kind;  ///< "measured", "ceiling"
  std::string model;
  std::int64_t parameters = 0;
  std::string method, weights;  ///< the words of `plan`
  std::int64_t batch = 0;
  std::int64_t packing = 0;           ///< tokens; 0: a load
  std::string quantity;               ///< "peak_allocated", "load"; empty for a ceiling
  std::optional<std::int64_t> bytes;  ///< of a measured one
  std::string length;                 ///< "at-most": samples were shorter than `packing`; empty: exact
  std::string objective;              ///< a word of `plan` other than "sft"; empty: sft, or no training
  std::string what;
  std::vector<Source> sources;
  std::string last_verified;
};

/// For which CUDA a package's wheels on PyPI are built when the version carries no tag (knowledge/wheels.yaml).
/// Versions are PEP 440; empty: nothing is published.
struct WheelCuda {
  std::string name;
  std::string cpu_only_before;  ///< wheels for aarch64 older than this have no CUDA
  std::string cuda_12_before;   ///< older ones are linked against CUDA 12
  std::string cuda_13_from;     ///< from here on against CUDA 13
  std::string note;
  std::vector<Source> sources;
  std::string last_verified;
};

/// Packages that are known not to work together (knowledge/combinations.yaml).
struct Combination {
  std::string id;
  std::vector<std::string> when;     ///< requirements that must all hold: "peft>=0.19"
  std::string unless_variable;       ///< an environment variable that cures it; empty: none
  bool unless_ngc = false;           ///< NVIDIA's images are not concerned
  std::string status;                ///< "fail", "warn"
  std::string headline;              ///< {torchao} stands for its installed version
  std::vector<std::string> install;  ///< requirements that repair it
  std::vector<Source> sources;
  std::string last_verified;
};

/// An environment that is known to work (knowledge/recipes.yaml). In commands {NAME} stands for the known good version
/// of that row of the stack table.
struct Recipe {
  std::string id;
  std::vector<std::string> also;  ///< other words for it
  std::string title;
  std::string image;
  bool moving = false;  ///< its tag is moved by its makers
  std::string image_note;
  std::vector<std::string> in_container, pip;  ///< commands, in their order
  std::string pip_note;
  std::vector<std::string> packages;  ///< the rows of the stack table that it rests on
  std::vector<Source> sources;
  std::string last_verified;
};

/// Everything that is known about the platform. Loaded from the data compiled in, then /etc/sparkops/knowledge/*.yaml,
/// then $SPARKOPS_KNOWLEDGE/*.yaml; a later entry with the same key replaces the earlier one. Tables are parsed when
/// first asked for, since parsing YAML costs milliseconds; the same object may be asked from several threads.
class Tables {
 public:
  /// `override_directories` in the order they are applied; missing ones are no error.
  explicit Tables(std::vector<std::string> override_directories = default_override_directories());
  ~Tables();
  Tables(const Tables&) = delete;
  Tables& operator=(const Tables&) = delete;

  [[nodiscard]] static std::vector<std::string> default_override_directories();

  [[nodiscard]] const std::vector<GotchaEntry>& gotchas() const;
  [[nodiscard]] const std::vector<Topic>& topics() const;
  [[nodiscard]] const std::vector<Symptom>& symptoms() const;
  [[nodiscard]] const std::vector<ServerDefaults>& servers() const;
  [[nodiscard]] const std::vector<Platform>& platforms() const;
  [[nodiscard]] const std::vector<PlaybookEntry>& playbooks() const;
  [[nodiscard]] const std::vector<StackPackage>& stack() const;
  [[nodiscard]] const std::vector<WheelCuda>& wheels() const;
  [[nodiscard]] const std::vector<Combination>& combinations() const;
  [[nodiscard]] const std::vector<Recipe>& recipes() const;
  [[nodiscard]] const std::vector<ModelEntry>& models() const;
  [[nodiscard]] const std::vector<AnchorEntry>& anchors() const;
  /// Those of one method ("lora"); parses them alone where no override replaces the table.
  [[nodiscard]] std::vector<AnchorEntry> anchors_of(std::string_view method) const;

  /// The model that a name means, by name or alias and whatever its ending tells about tuning or number format (see
  /// model_names.h); parses that entry alone where no override replaces the table. Nothing: not known.
  [[nodiscard]] std::optional<ModelEntry> find_model(std::string_view name) const;

  [[nodiscard]] const Platform& gb10() const;                                 ///< always there
  [[nodiscard]] const ServerDefaults* server(std::string_view server) const;  ///< null: not known

  /// What was wrong with the files of the tables asked for so far, and with override files that belong to no table;
  /// each names file, line and reason. Such an entry is left out, the others hold (for an override: the one compiled
  /// in).
  [[nodiscard]] std::vector<std::string> problems() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Entries older than this are called old in text output.
inline constexpr int k_stale_after_days = 180;

/// Days since `last_verified`; nothing when it is no date.
[[nodiscard]] std::optional<int> age_in_days(std::string_view last_verified, Timestamp now);

}  // namespace sparkops::knowledge
