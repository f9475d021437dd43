// Shares of samples, parts of inputs, and the summaries that hold some of them.
#include <gtest/gtest.h>
#include <cgmca/error.hpp>
#include <cgmca/parts.hpp>
#include <cgmca/summary.hpp>

#include <string>
#include <vector>

#include "io_testing.hpp"

namespace cgmca {
namespace {

using Texts = std::vector<std::string>;

TEST(Parts, SharesFollowEachOtherAndDifferByAtMostOne) {
  for (const Index n : {Index{0}, Index{1}, Index{3}, Index{10}, Index{60000}, Index{1} << 60}) {
    for (const Index count : {Index{1}, Index{3}, Index{7}, Index{1000}}) {
      Index next = 0;
      for (Index number = 1; number <= count; ++number) {
        const Share share = share_of(n, {number, count});
        EXPECT_EQ(share.first, next);
        EXPECT_GE(share.samples, n / count);
        EXPECT_LE(share.samples, n / count + 1);
        next += share.samples;
      }
      EXPECT_EQ(next, n);
    }
  }
  EXPECT_THROW(share_of(10, {0, 3}), InvalidInput);
  EXPECT_THROW(share_of(10, {4, 3}), InvalidInput);
}

Summary part_with(const Texts& inputs, Index number, Index count, const std::string& way = "w") {
  Summary summary({1, 1});
  summary.add(Matrix::Constant(1, 2, static_cast<double>(number)), Matrix::Constant(1, 2, 1.0));
  for (const std::string& input : inputs) summary.note_input(part_of(input, {number, count}, way));
  return summary;
}

TEST(Parts, AllPartsOfAnInputInAnyOrderAreTheInput) {
  const Texts inputs = {"X1:ab a.npy", "X2:cd b b.npy"};
  Summary sum = part_with(inputs, 3, 4);
  EXPECT_EQ(sum.inputs(), (Texts{"X1:ab#3/4:w a.npy", "X2:cd#3/4:w b b.npy"}));
  sum.merge(part_with(inputs, 1, 4));
  EXPECT_EQ(sum.inputs().front(), "X1:ab#1,3/4:w a.npy");
  EXPECT_EQ(missing_parts(sum.inputs()), Texts{"parts 2 and 4 of 4 of 'a.npy' and 'b b.npy'"});
  sum.merge(part_with(inputs, 2, 4));
  EXPECT_EQ(sum.inputs().front(), "X1:ab#1-3/4:w a.npy");
  EXPECT_EQ(input_name(sum.inputs().front()), "a.npy (parts 1 to 3 of 4)");
  EXPECT_EQ(division_of(sum.inputs()), division_of(part_with(inputs, 4, 4).inputs()));  // whichever parts there are
  EXPECT_NE(division_of(sum.inputs()), division_of(part_with(inputs, 4, 5).inputs()));
  EXPECT_NE(division_of(sum.inputs()), division_of(part_with(inputs, 4, 4, "v").inputs()));
  EXPECT_NE(division_of(sum.inputs()), division_of(part_with({"X1:ef a.npy"}, 4, 4).inputs()));
  sum = Summary::from_bytes(sum.to_bytes());
  sum.merge(part_with(inputs, 4, 4));
  EXPECT_EQ(sum.inputs(), inputs);
  EXPECT_TRUE(missing_parts(sum.inputs()).empty());
  EXPECT_EQ(division_of(sum.inputs()), "");
  EXPECT_EQ(sum.samples(), 8);
}

TEST(Parts, WhatWouldCountTwiceIsRefusedByName) {
  const Texts inputs = {"X1:ab a.npy"};
  Summary sum = part_with(inputs, 1, 4);
  sum.merge(part_with(inputs, 2, 4));
  const auto refusal = [&](const Summary& other) { return message_of<InvalidInput>([&] { sum.merge(other); }); };
  expect_says(refusal(part_with(inputs, 2, 4)), {"part 2 of 4 of 'a.npy'", "twice"});
  expect_says(refusal(part_with(inputs, 3, 5)), {"parts 1 to 2 of 4 and part 3 of 5 of 'a.npy' overlap"});
  expect_says(refusal(part_with(inputs, 3, 4, "other")), {"part 3 of 4 of 'a.npy' was read with other options"});
  expect_says(refusal(part_with(inputs, 1, 1)), {"holds all of 'a.npy' and the other parts 1 to 2 of 4"});
  EXPECT_EQ(sum.samples(), 4);
  sum.merge(part_with(inputs, 2, 4), Repeats::allow);
  EXPECT_EQ(sum.samples(), 6);
  EXPECT_EQ(sum.inputs(), Texts{"X1:ab#1-2/4:w a.npy"});
}

TEST(Parts, WordsThatOnlyLookLikePartsAreTakenAsTheyAre) {
  for (const char* word : {"a#b", "a#1", "a#2-1/4", "a#5/4", "a#1/4:", "#1/4", "a#0/4", "a#1,1/4"}) {
    Summary summary({1});
    summary.note_input(std::string(word) + " name");
    EXPECT_EQ(summary.inputs(), Texts{std::string(word) + " name"});
    EXPECT_TRUE(missing_parts(summary.inputs()).empty()) << word;
  }
}

}  // namespace
}  // namespace cgmca
