#include "knowledge/lookup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace sparkops::knowledge {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

class LookUpTest : public testing::Test {
 protected:
  std::string first(std::string_view words) const {
    const auto found = look_up(tables_, words);
    return found.entry ? found.entry.id() : "";
  }
  Tables tables_{std::vector<std::string>{}};
};

TEST_F(LookUpTest, NumbersNameGotchas) {
  for (const char* words : {"G3", "g3", "G03", "3", " g3 "}) EXPECT_EQ(first(words), "G3") << words;
  EXPECT_EQ(first("10"), "G10");
  EXPECT_EQ(first("g010"), "G10");
}

TEST_F(LookUpTest, NumbersBeyondTheTenNameNothing) {
  for (const char* words : {"G0", "G11", "11", "g", "G99999999999999999999"}) EXPECT_EQ(first(words), "") << words;
}

TEST_F(LookUpTest, TopicsMayBeWrittenLoosely) {
  for (const char* words : {"page-cache", "page cache", "Page_Cache"}) EXPECT_EQ(first(words), "page-cache") << words;
  EXPECT_THAT(look_up(tables_, "page-cache").symptoms, IsEmpty());
}

TEST_F(LookUpTest, SymptomsInAPersonsWords) {
  EXPECT_EQ(first("the box freezes and ssh is dead"), "uma-freeze");
  EXPECT_EQ(first("nvidia-smi shows N/A"), "nvidia-smi-memory");
  EXPECT_EQ(first("ImportError: libcudart.so.12"), "G1");
  EXPECT_EQ(first("training gets slower after two hours"), "G4");
  EXPECT_EQ(first("out of memory while loading"), "load-transient");
  EXPECT_EQ(first("torch.cuda.is_available false"), "no-gpu");
  EXPECT_EQ(first("ptxas fatal sm_121a"), "sm121-vs-sm121a");
  EXPECT_EQ(first("memory still used after I stopped vllm"), "memory-not-released");
  EXPECT_EQ(first("tensor parallel two nodes hangs"), "G10");
  EXPECT_EQ(first("swapping"), "swap");
  EXPECT_EQ(first("only 60 W instead of 240 W"), "power-240w");
}

TEST_F(LookUpTest, EverydayWords) {
  EXPECT_EQ(first("vllm won't start"), "fraction-not-a-cap");
  for (const char* words : {"cudaErrorMemoryAllocation", "kernel killed my process", "killed", "exit code 137"})
    EXPECT_EQ(first(words), "G3") << words;
  for (const char* words :
       {"illegal instruction", "CUDA error: an illegal instruction was encountered", "no kernel image"})
    EXPECT_EQ(first(words), "G7") << words;
  for (const char* words : {"fan loud", "slow after an hour"}) EXPECT_EQ(first(words), "G4") << words;
  EXPECT_EQ(first("stuck at loading"), "load-transient");
  EXPECT_EQ(first("nccl timeout"), "G10");
  EXPECT_EQ(first("training hangs"), "clock-states");
  EXPECT_EQ(first("vllm"), "server-caps");
  for (const char* words : {"vllm slow", "ollama slow"}) EXPECT_EQ(first(words), "bandwidth-273") << words;
}

TEST_F(LookUpTest, WhatNothingIsKnownOfLeadsNowhereButNamesThreeNeighbours) {
  for (const char* words : {"nan loss", "my printer is broken", "kernel panic", "xylophone"}) {
    const auto found = look_up(tables_, words);
    EXPECT_FALSE(found.entry) << words;
    EXPECT_THAT(found.nearest, SizeIs(3)) << words;
    for (const auto& id : found.nearest) EXPECT_TRUE(find_entry(tables_, id)) << id;
  }
  EXPECT_THAT(look_up(tables_, "illegal memory access").nearest, Contains("G3"));
  EXPECT_THAT(look_up(tables_, "G3").nearest, IsEmpty());
}

TEST_F(LookUpTest, SeveralNamesAreSeveralEntries) {
  const auto ids = [&](std::string_view words) {
    std::vector<std::string> list;
    for (const auto& entry : named_entries(tables_, words)) list.push_back(entry.id());
    return list;
  };
  EXPECT_THAT(ids("G3 G4"), ElementsAre("G3", "G4"));
  EXPECT_THAT(ids("4, page-cache,g03 4"), ElementsAre("G4", "page-cache", "G3"));
  EXPECT_THAT(ids("page cache"), ElementsAre("page-cache"));
  EXPECT_THAT(ids("G3 banana"), IsEmpty());
  EXPECT_THAT(ids("G3 G11"), IsEmpty());
  EXPECT_THAT(ids(" , "), IsEmpty());
}

TEST_F(LookUpTest, SaysWhichSymptomItUnderstood) {
  const auto found = look_up(tables_, "spontaneous reboot");
  ASSERT_FALSE(found.symptoms.empty());
  EXPECT_EQ(found.symptoms.front()->leads_to.front(), "G4");
  EXPECT_LE(found.symptoms.size(), 3U);
}

TEST_F(LookUpTest, UnknownWordsGiveSuggestionsAndNoEntry) {
  const auto slip = look_up(tables_, "pagecahce");
  EXPECT_FALSE(slip.entry) << slip.entry.id();
  EXPECT_THAT(slip.suggestions, Contains("page-cache"));
  const auto nonsense = look_up(tables_, "xylophone concerto");
  EXPECT_FALSE(nonsense.entry);
  EXPECT_THAT(nonsense.suggestions, IsEmpty());
  EXPECT_FALSE(look_up(tables_, "").entry);
  EXPECT_FALSE(look_up(tables_, "the and of").entry);
}

TEST_F(LookUpTest, RandomBytesAreAnsweredToo) {
  std::mt19937 random(7);
  for (int round = 0; round < 40; ++round) {
    std::string words(static_cast<std::size_t>(round) * 50, ' ');
    for (char& c : words) c = static_cast<char>(random());
    const auto found = look_up(tables_, words);
    EXPECT_TRUE(!found.entry || !found.entry.id().empty());
  }
}

TEST_F(LookUpTest, EntriesAreFoundByTheirExactId) {
  EXPECT_EQ(find_entry(tables_, "G7").id(), "G7");
  EXPECT_EQ(find_entry(tables_, "swap").title(), "swap on a unified pool");
  EXPECT_FALSE(find_entry(tables_, "g7"));
}

}  // namespace
}  // namespace sparkops::knowledge
