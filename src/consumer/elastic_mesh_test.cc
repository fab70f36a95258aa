// A stream written for one mesh, read by jobs of other sizes: the global content of each step is
// the same, whatever the size, and also when it changes at a checkpoint.
#include <gtest/gtest.h>

#include <cstring>

#include "base/text.h"
#include "lakestream/consumer.h"
#include "lakestream/lifecycle.h"
#include "lakestream/producer.h"
#include "tests/support/tiny_stream.h"

namespace lakestream {
namespace {

using testing_support::TinyStream;

constexpr uint32_t kDp = 4;
constexpr uint32_t kCp = 2;
constexpr uint64_t kSamples = 6;  // of a slice
constexpr int kSteps = 40;

// What all positions of a mesh read of one step, in their order, for each cp: "row|word row|word".
using GlobalContent = std::vector<std::string>;

class ElasticMeshTest : public ::testing::Test {
 protected:
  // Slice (dp, cp) of step s holds kSamples rows {s, dp, cp, sample} and a word for each.
  static Status FillSlice(Tgb& tgb, int step, uint32_t dp, uint32_t cp) {
    std::vector<int32_t> rows;
    std::vector<std::string> words;
    for (uint64_t sample = 0; sample < kSamples; ++sample) {
      for (uint64_t value : {uint64_t(step), uint64_t{dp}, uint64_t{cp}, sample})
        rows.push_back(static_cast<int32_t>(value));
      words.push_back(std::string(sample % 3, static_cast<char>('a' + dp)));
    }
    RaggedStorage storage;
    std::vector<TensorView> tensors = StringTensors("word", words, storage);
    tensors.push_back({"row",
                       DType::kI32,
                       {kSamples, 4},
                       {reinterpret_cast<const uint8_t*>(rows.data()), rows.size() * 4}});
    return tgb.SetSlice(dp, cp, tensors, {{"lakestream.samples", std::to_string(kSamples)}});
  }

  void Write(TinyStream& tiny, int per_flush) {
    ProducerOptions options;
    options.name = "a";
    auto producer = Producer::Open(tiny.stream, options, tiny.Soon());
    ASSERT_TRUE(producer.ok()) << producer.status();
    for (int step = 0; step < kSteps; ++step) {
      Tgb tgb({kDp, kCp});
      for (uint32_t dp = 0; dp < kDp; ++dp) {
        for (uint32_t cp = 0; cp < kCp; ++cp) ASSERT_TRUE(FillSlice(tgb, step, dp, cp).ok());
      }
      ASSERT_TRUE((*producer)->Write(std::move(tgb), "", tiny.Soon()).ok());
      if (step % per_flush == 0) {
        ASSERT_TRUE((*producer)->Flush(tiny.Soon()).ok());
      }
    }
    ASSERT_TRUE((*producer)->Finish(tiny.Soon()).ok());
  }

  static std::string Content(const SliceView& slice) {
    const TensorView& rows = *slice.Find("row");
    const auto words = ReadStrings(slice, "word");
    EXPECT_TRUE(words.ok()) << words.status();
    EXPECT_EQ(words->size(), rows.shape[0]);
    std::string text;
    for (size_t i = 0; i < words->size(); ++i) {
      int32_t row[4];
      std::memcpy(row, rows.data.data() + i * sizeof row, sizeof row);
      text += Str(row[0], ".", row[1], ".", row[2], ".", row[3], "|", (*words)[i], " ");
    }
    return text;
  }

  // Steps [from, to) as a job of `dp` x kCp reads them.
  static std::vector<GlobalContent> Read(TinyStream& tiny, uint32_t dp, Step from, Step to) {
    std::vector<GlobalContent> steps(to - from, GlobalContent(kCp));
    for (uint32_t dp_index = 0; dp_index < dp; ++dp_index) {
      for (uint32_t cp = 0; cp < kCp; ++cp) {
        ConsumerOptions options;
        options.mesh = Mesh{dp, kCp};
        options.dp_index = dp_index;
        options.cp_index = cp;
        options.start_step = from;
        options.fetches_max = 2;
        auto consumer = Consumer::Open(tiny.stream, options, tiny.Soon());
        EXPECT_TRUE(consumer.ok()) << consumer.status();
        if (!consumer.ok()) return {};
        for (Step step = from; step < to; ++step) {
          auto next = (*consumer)->Next(tiny.Soon());
          EXPECT_TRUE(next.ok() && *next) << next.status();
          if (!next.ok() || !*next) return {};
          EXPECT_EQ((*next)->step, step);
          EXPECT_EQ((*next)->slices.size(), dp < kDp ? kDp / dp : 1);
          for (const SliceView& slice : (*next)->slices) steps[step - from][cp] += Content(slice);
        }
      }
    }
    return steps;
  }

  static TinyStream MakeStream(uint32_t samples_multiple) {
    return TinyStream({"a"}, {.mesh = {kDp, kCp},
                              .snapshot_interval = 8,
                              .index_page_steps = 16,
                              .samples_multiple = samples_multiple});
  }
};

TEST_F(ElasticMeshTest, EveryJobSizeReadsTheSameGlobalContent) {
  TinyStream tiny = MakeStream(6);
  Write(tiny, 7);
  const auto as_written = Read(tiny, kDp, 0, kSteps);
  ASSERT_EQ(as_written.size(), size_t{kSteps});
  EXPECT_NE(as_written[0][0], as_written[0][1]);
  for (uint32_t dp : {1u, 2u, 8u, 12u, 24u}) EXPECT_EQ(Read(tiny, dp, 0, kSteps), as_written) << dp;
}

TEST_F(ElasticMeshTest, TheSizeMayChangeAtACheckpoint) {
  TinyStream tiny = MakeStream(2);
  Write(tiny, 3);
  const auto as_written = Read(tiny, kDp, 0, kSteps);
  std::vector<GlobalContent> legs;
  Step from = 0;
  for (const auto& [dp, to] : {std::pair<uint32_t, Step>{4, 9}, {2, 20}, {8, 33}, {1, kSteps}}) {
    const std::string name = Str("at-", to);
    for (GlobalContent& step : Read(tiny, dp, from, to)) legs.push_back(std::move(step));
    auto saved = SaveCheckpoint(*tiny.stream, {.name = name, .step = to}, tiny.Soon());
    ASSERT_TRUE(saved.ok()) << saved.status();
    from = FindCheckpoint(*tiny.stream, name, tiny.Soon())->step;
  }
  EXPECT_EQ(legs, as_written);
}

TEST_F(ElasticMeshTest, WhatCannotBeServedIsRefusedBeforeAnyRead) {
  const auto open = [](TinyStream& tiny, Mesh mesh, uint32_t dp_index = 0) {
    ConsumerOptions options;
    options.mesh = mesh;
    options.dp_index = dp_index;
    return Consumer::Open(tiny.stream, options, tiny.Soon()).status();
  };
  TinyStream shared = MakeStream(6);
  for (Mesh mesh : {Mesh{3, kCp}, Mesh{6, kCp}, Mesh{16, kCp}, Mesh{4, 1}, Mesh{4, 4}}) {
    EXPECT_EQ(open(shared, mesh).code(), Code::kFailedPrecondition) << mesh.dp << "x" << mesh.cp;
    EXPECT_EQ(open(shared, mesh).reason(), Reason::kMeshMismatch);
  }
  EXPECT_EQ(open(shared, {8, kCp}, 8).code(), Code::kInvalidArgument);
  TinyStream whole = MakeStream(0);
  EXPECT_EQ(open(whole, {8, kCp}).reason(), Reason::kMeshMismatch);
  EXPECT_TRUE(open(whole, {2, kCp}).ok());
}

TEST_F(ElasticMeshTest, AProducerMustKeepToTheDeclaredMultiple) {
  TinyStream tiny = MakeStream(4);  // slices have 6 samples
  auto producer = Producer::Open(tiny.stream, {.name = "a"}, tiny.Soon());
  ASSERT_TRUE(producer.ok());
  Tgb tgb({kDp, kCp});
  for (uint32_t dp = 0; dp < kDp; ++dp) {
    for (uint32_t cp = 0; cp < kCp; ++cp) ASSERT_TRUE(FillSlice(tgb, 0, dp, cp).ok());
  }
  EXPECT_EQ((*producer)->Write(std::move(tgb), "", tiny.Soon()).code(), Code::kInvalidArgument);
}

// The slices of a narrower job are read a run at a time, not one by one.
TEST_F(ElasticMeshTest, SmallStepsAreReadTogetherInEachLane) {
  TinyStream tiny = MakeStream(0);
  Write(tiny, kSteps);
  ConsumerOptions options;
  options.mesh = Mesh{1, kCp};
  options.fetches_max = 1;
  auto consumer = Consumer::Open(tiny.stream, options, tiny.Soon());
  ASSERT_TRUE(consumer.ok());
  while (*(*consumer)->Next(tiny.Soon())) {
  }
  EXPECT_LT((*consumer)->stats().requests, uint64_t{kSteps});
}

}  // namespace
}  // namespace lakestream
