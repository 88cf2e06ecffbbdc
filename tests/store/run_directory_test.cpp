#include "store/run_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "store/event_line.h"

namespace sparkops::store {
namespace {

TEST(RunDirectory, ShortNames) {
  EXPECT_EQ(slug_of({"python3", "-u", "/home/me/Train_LoRA.py", "--lr", "1e-4"}), "train-lora");
  EXPECT_EQ(slug_of({"torchrun", "--nproc_per_node", "1", "finetune.py"}), "finetune");
  EXPECT_EQ(slug_of({"/usr/bin/vllm", "serve", "x"}), "vllm");
  EXPECT_EQ(slug_of({"./../…/  "}), "run");
  EXPECT_EQ(slug_of({}), "run");
  EXPECT_LE(slug_of({std::string(300, 'a')}).size(), 32U);
  EXPECT_EQ(slug_of({"bash", ".py"}), "run");
}

RunRecord record() {
  RunRecord record;
  record.command = {"python3", "train.py"};
  record.working_directory = "/home/me";
  record.program_version = "0.1.0";
  record.boot_id = as_read(std::string("1-2-3"));
  record.supervisor_pid = 4711;
  record.supervisor_start_ticks = as_read(std::int64_t{99});
  record.started = {1777108678059};
  record.preflight = "ready";
  record.gpu = unknown("none");
  return record;
}

TEST(RunDirectory, ARunThatGoesOnHasNoEnd) {
  const auto back = parse_run_json(run_json(record()));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->command, record().command);
  EXPECT_EQ(*back->boot_id, "1-2-3");
  EXPECT_EQ(back->supervisor_pid, 4711);
  EXPECT_EQ(back->started, record().started);
  EXPECT_FALSE(back->gpu);
  EXPECT_FALSE(back->end);
}

TEST(RunDirectory, AnEndIsReadBack) {
  RunRecord ended = record();
  ended.end.emplace();
  ended.end->at = {1777108679000};
  ended.end->exit_code = 137;
  ended.end->signal = 9;
  ended.end->lowest_available_bytes = unknown("not read");
  ended.end->output_bytes = 12;
  const auto back = parse_run_json(run_json(ended));
  ASSERT_TRUE(back && back->end);
  EXPECT_EQ(back->end->exit_code, 137);
  EXPECT_EQ(back->end->signal, 9);
  EXPECT_FALSE(back->end->lowest_available_bytes);
  EXPECT_EQ(back->end->at.unix_ms, 1777108679000);
}

TEST(RunDirectory, ForeignAndTruncatedFilesAreRefused) {
  const std::string whole = run_json(record());
  for (std::size_t size = 0; size + 2 < whole.size(); size += 7)
    EXPECT_FALSE(parse_run_json(whole.substr(0, size))) << size;
  for (const char* const text : {"", "[]", "null", "{}", R"({"schema": "sparkops.run/2"})",
                                 R"({"schema": "sparkops.run/1"})", R"({"schema": "sparkops.run/1", "started_at": 5})"})
    EXPECT_FALSE(parse_run_json(text)) << text;
  const auto odd = parse_run_json(
      R"({"schema": "sparkops.run/1", "started_at": "2026-04-25T09:17:58Z", "command": [1, "a"], "supervisor_pid": 1e300,
          "end": {"exit_code": "x"}, "ended_at": "2026-04-25T09:17:59Z", "boot_id": null})");
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->command, std::vector<std::string>{"a"});
  EXPECT_EQ(odd->supervisor_pid, 0);
  EXPECT_FALSE(odd->boot_id);
}

TEST(RunDirectory, ASecondRunInTheSameSecondGetsANumber) {
  std::string pattern = (std::filesystem::temp_directory_path() / "sparkops-run-dir-XXXXXX").string();
  const std::filesystem::path root = ::mkdtemp(pattern.data());
  const auto first = create_run_directory((root / "runs").string(), {1777108678059}, "train");
  const auto second = create_run_directory((root / "runs").string(), {1777108678059}, "train");
  ASSERT_TRUE(first && second);
  EXPECT_EQ(*second, *first + "-2");
  EXPECT_FALSE(create_run_directory("/dev/null/runs", {0}, "x"));
  std::filesystem::remove_all(root);
}

TEST(RunDirectory, AnEventIsOneLine) {
  Finding finding;
  finding.id = "wedged";
  finding.status = Status::fail;
  finding.headline = "a\nb\xff";
  const std::string line = event_line(finding, {1777108678059});
  EXPECT_EQ(line.find('\n'), line.size() - 1);
  const auto json = nlohmann::json::parse(line);
  EXPECT_EQ(json["kind"], "wedged");
  EXPECT_EQ(json["at"], "2026-04-25T09:17:58.059Z");
  EXPECT_EQ(json["status"], "fail");
}

}  // namespace
}  // namespace sparkops::store
