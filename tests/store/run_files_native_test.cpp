// ring.bin and pid files: what is read back, from whole files and from damaged ones.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "store/pid_file.h"
#include "store/ring_file.h"

namespace sparkops::store {
namespace {

class RunFiles : public ::testing::Test {
 protected:
  RunFiles() {
    std::string pattern = (std::filesystem::temp_directory_path() / "sparkops-run-files-XXXXXX").string();
    directory = ::mkdtemp(pattern.data());
  }
  ~RunFiles() override {
    std::error_code ignored;
    std::filesystem::remove_all(directory, ignored);
  }
  [[nodiscard]] std::string bytes_of(const std::string& name) const {
    std::ifstream file(directory / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::filesystem::path directory;
};

std::string ring_with(const std::string& path, std::size_t entries) {
  auto ring = RingFile::create(path);
  EXPECT_TRUE(ring) << ring.error().message;
  for (std::size_t i = 1; i <= entries; ++i)
    EXPECT_TRUE(ring->append({static_cast<std::int64_t>(i * 1000)}, "entry " + std::to_string(i)));
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(RunFiles, ARingKeepsTheNewest) {
  const std::string bytes = ring_with((directory / "ring.bin").string(), RingFile::k_slots + 10);
  EXPECT_EQ(bytes.size(), RingFile::k_slots * RingFile::k_slot_size) << "its size never changes";
  const auto entries = parse_ring(bytes);
  ASSERT_EQ(entries.size(), RingFile::k_slots);
  EXPECT_EQ(entries.front().text, "entry 11");
  EXPECT_EQ(entries.back().text, "entry 266");
  EXPECT_EQ(entries.back().taken.unix_ms, 266000);
}

TEST_F(RunFiles, AFreshRingIsEmptyAndALongTextIsCut) {
  EXPECT_TRUE(parse_ring(ring_with((directory / "ring.bin").string(), 0)).empty());
  auto ring = RingFile::create((directory / "ring.bin").string());
  ASSERT_TRUE(ring);
  ASSERT_TRUE(ring->append({1}, std::string(4000, 'x')));
  const auto entries = parse_ring(bytes_of("ring.bin"));
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].text, std::string(RingFile::k_longest_text, 'x'));
}

TEST_F(RunFiles, ADamagedRingGivesOnlyWholeEntries) {
  const std::string whole = ring_with((directory / "ring.bin").string(), 200);
  std::mt19937 random(7);
  for (int trial = 0; trial < 300; ++trial) {
    std::string bytes = whole.substr(0, random() % whole.size());
    for (int flips = static_cast<int>(random() % 8); flips > 0 && !bytes.empty(); --flips)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    const auto entries = parse_ring(bytes);
    EXPECT_LE(entries.size(), bytes.size() / RingFile::k_slot_size);
    for (const RingEntry& entry : entries) EXPECT_EQ(entry.text, "entry " + std::to_string(entry.sequence));
  }
}

TEST_F(RunFiles, NoRingWhereItCannotStand) {
  const auto ring = RingFile::create((directory / "no" / "ring.bin").string());
  ASSERT_FALSE(ring);
  EXPECT_THAT(ring.error().message, ::testing::HasSubstr("no/ring.bin: "));
}

TEST_F(RunFiles, PidFiles) {
  const std::string path = (directory / "thermal.log.pid").string();
  ASSERT_TRUE(write_pid_file(path, {4711, 99}));
  EXPECT_EQ(read_pid_file(path), (ProcessMark{4711, 99}));
  EXPECT_EQ(bytes_of("thermal.log.pid"), "4711 99\n") << "as the shell sampler writes it";
  for (const char* const text : {"", "4711", "4711 99 1", "x 1", "-1 5", "0 5", "1 5", "99999999999999 5", "12 -5"})
    EXPECT_FALSE(parse_pid_file(text)) << text;
  EXPECT_FALSE(parse_pid_file(std::string_view("12\0 5", 5)));
  EXPECT_FALSE(read_pid_file((directory / "none").string()));
  EXPECT_FALSE(read_pid_file(directory.string()));
}

}  // namespace
}  // namespace sparkops::store
