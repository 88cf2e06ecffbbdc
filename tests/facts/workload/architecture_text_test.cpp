#include "facts/workload/architecture_text.h"

#include <gtest/gtest.h>

namespace sparkops::facts {
namespace {

TEST(ArchitectureText, ReadsWidths) {
  const auto dense = parse_architecture("L=32,h=4096,nh=32,nkv=8,d=128,i=14336,V=128256,tied=no");
  ASSERT_TRUE(dense) << dense.error().message;
  EXPECT_EQ(dense->layers.size(), 32U);
  EXPECT_EQ(dense->key_value_heads, 8);
  EXPECT_FALSE(dense->tied_embeddings);
  EXPECT_TRUE(dense->gated_mlp);
  const auto short_form = parse_architecture("L=2, h=64, nh=4, i=256, V=100, act=gelu, tied=yes");
  ASSERT_TRUE(short_form);
  EXPECT_EQ(short_form->key_value_heads, 4);
  EXPECT_EQ(short_form->head_dim, 16);
  EXPECT_FALSE(short_form->gated_mlp);
}

TEST(ArchitectureText, ReadsExpertsAndWindows) {
  const auto mixed = parse_architecture("L=6,h=64,nh=4,i=128,V=100,E=8,k=2,m=32,shared=16,dense=1,window=128,every=3");
  ASSERT_TRUE(mixed) << mixed.error().message;
  EXPECT_EQ(mixed->experts->count, 8);
  EXPECT_EQ(mixed->layers[0].feed_forward, FeedForward::dense);
  EXPECT_EQ(mixed->layers[1].feed_forward, FeedForward::experts);
  EXPECT_EQ(mixed->layers[1].mixer, Mixer::sliding_attention);
  EXPECT_EQ(mixed->layers[2].mixer, Mixer::full_attention);
}

TEST(ArchitectureText, GarbageIsAUsageErrorThatNamesThePart) {
  for (const char* text :
       {"", ",", "L", "L=", "L=32", "L=-1,h=1,nh=1,i=1,V=1", "L=1e9,h=1,nh=1,i=1,V=1", "L=99999,h=1,nh=1,i=1,V=1",
        "L=1,h=99999999999999999999,nh=1,i=1,V=1", "L=1,h=1,nh=1,i=1,V=1,x=2", "L=1,L=2,h=1,nh=1,i=1,V=1",
        "L=1,h=8,nh=4,nkv=3,i=1,V=1", "L=1,h=8,nh=4,V=1", "L=1,h=8,nh=4,V=1,E=4,k=9,m=1",
        "L=1,h=8,nh=4,i=1,V=1,tied=maybe", "L=1,h=8,nh=4,i=1,V=1,act=relu", "L=0,h=0,nh=0,i=0,V=0"}) {
    const auto result = parse_architecture(text);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().kind, ErrorKind::usage) << text;
  }
  using std::string_literals::operator""s;
  EXPECT_FALSE(parse_architecture("L=1,h=8,nh=4,i=1,V=1\0,x=1"s));
}

}  // namespace
}  // namespace sparkops::facts
