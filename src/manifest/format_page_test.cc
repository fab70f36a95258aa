// The worked examples of docs/format/manifest.md, taken from the page itself.
#include "tests/support/format_page.h"

#include <gtest/gtest.h>

#include "manifest/apply.h"
#include "manifest/stream_json.h"

namespace lakestream {
namespace {

using testing_support::HexBlock;
using testing_support::HexBlocks;

// The stream of the page: mesh 2 x 1, and pages of two steps so that one is sealed.
StreamInfo ExampleInfo() {
  StreamInfo info;
  info.uuid = "a0a1a2a3a4a5a6a7a8a9aaabacadaeaf";
  info.created_ms = 1764547200000;
  info.spec.mesh = {2, 1};
  info.spec.snapshot_interval = 2;
  info.spec.index_page_steps = 2;
  return info;
}

struct Example {
  std::vector<uint8_t> open, publish, snapshot, index, hint, lifecycle, branch, boundary;
};

// Version 1 opens producer "text-0"; version 2 publishes an object of two TGBs; version 3 makes a
// checkpoint, trims to it and forks a branch.
Example MakeExample() {
  const StreamInfo info = ExampleInfo();
  State state = EmptyState(info);
  Example example;
  CommitId id{};
  id.fill(0x11);
  example.open =
      EncodeRecord(MakeRecord(info, state, {OpenChange{"text-0", 0}}, id, 1764547201000));
  EXPECT_TRUE(Apply(info, DecodeRecord(example.open, info.spec.mesh).value(),
                    RecordHash(example.open), state)
                  .ok());
  Entry entry;
  entry.session = 1;
  entry.layout =
      ObjectLayout::FromFrameSizes(info.spec.mesh, 2, std::vector<uint64_t>{256, 256, 256, 320})
          .value();
  entry.object_bytes = 1344;
  entry.state = StateRef::Of("row 2", 0);
  id.fill(0x22);
  example.publish =
      EncodeRecord(MakeRecord(info, state, {PublishChange{entry}}, id, 1764547202000));
  auto pages = Apply(info, DecodeRecord(example.publish, info.spec.mesh).value(),
                     RecordHash(example.publish), state);
  EXPECT_TRUE(pages.ok());
  EXPECT_EQ(pages->size(), 1u);
  example.snapshot = EncodeSnapshot(info, state);
  example.index = EncodeIndexPage(info, pages->front());
  example.hint = EncodeHeadHint(2);
  id.fill(0x33);
  example.lifecycle = EncodeRecord(
      MakeRecord(info, state,
                 {BeginCheckpointChange{"warm", "", 1, 0, true, "model/1", 1764547203000},
                  TrimChange{1}, ForkChange{"exp", 2}},
                 id, 1764547203000));
  EXPECT_TRUE(Apply(info, DecodeRecord(example.lifecycle, info.spec.mesh).value(),
                    RecordHash(example.lifecycle), state)
                  .ok());
  example.branch = EncodeBranch(info, MakeBranchInfo("main", "exp", state.branches.at("exp")));
  example.boundary = EncodeBoundary(info, {.decided_at = 3, .snapshot = 2, .first_step = 1});
  return example;
}

TEST(ManifestPageTest, TheExamplesAreWhatTheWriterWrites) {
  const Example example = MakeExample();
  const auto blocks = HexBlocks(LS_FORMAT_PAGE);
  ASSERT_EQ(blocks.size(), 8u) << HexBlock(example.open) << HexBlock(example.publish)
                               << HexBlock(example.snapshot) << HexBlock(example.index)
                               << HexBlock(example.hint) << HexBlock(example.lifecycle)
                               << HexBlock(example.branch) << HexBlock(example.boundary);
  EXPECT_EQ(blocks[0], example.open) << HexBlock(example.open);
  EXPECT_EQ(blocks[1], example.publish) << HexBlock(example.publish);
  EXPECT_EQ(blocks[2], example.snapshot) << HexBlock(example.snapshot);
  EXPECT_EQ(blocks[3], example.index) << HexBlock(example.index);
  EXPECT_EQ(blocks[4], example.hint) << HexBlock(example.hint);
  EXPECT_EQ(blocks[5], example.lifecycle) << HexBlock(example.lifecycle);
  EXPECT_EQ(blocks[6], example.branch) << HexBlock(example.branch);
  EXPECT_EQ(blocks[7], example.boundary) << HexBlock(example.boundary);
}

TEST(ManifestPageTest, TheExamplesSayWhatThePageSays) {
  const StreamInfo info = ExampleInfo();
  const auto blocks = HexBlocks(LS_FORMAT_PAGE);
  ASSERT_EQ(blocks.size(), 8u);
  auto open = DecodeRecord(blocks[0], info.spec.mesh);
  ASSERT_TRUE(open.ok()) << open.status();
  EXPECT_EQ(open->previous, RootHash(UuidBytes(info)));
  EXPECT_EQ(std::get<OpenChange>(open->changes.at(0)).producer, "text-0");
  auto publish = DecodeRecord(blocks[1], info.spec.mesh);
  ASSERT_TRUE(publish.ok()) << publish.status();
  EXPECT_EQ(publish->previous, RecordHash(blocks[0]));
  EXPECT_EQ(publish->next_step, 2u);
  auto state = DecodeSnapshot(info, blocks[2]);
  ASSERT_TRUE(state.ok()) << state.status();
  EXPECT_EQ(state->version, 2u);
  EXPECT_EQ(state->rows.at("text-0").state.inline_bytes, "row 2");
  auto page = DecodeIndexPage(info, 0, blocks[3]);
  ASSERT_TRUE(page.ok()) << page.status();
  const Entry& entry = page->entries.at(0).entry;
  EXPECT_EQ(entry.layout.FrameRange(info.spec.mesh, 1, 1, 0), (ByteRange{64 + 3 * 256, 320}));
  EXPECT_EQ(DecodeHeadHint(blocks[4]).value(), 2u);
  auto lifecycle = DecodeRecord(blocks[5], info.spec.mesh);
  ASSERT_TRUE(lifecycle.ok()) << lifecycle.status();
  EXPECT_EQ(std::get<BeginCheckpointChange>(lifecycle->changes.at(0)).note, "model/1");
  EXPECT_EQ(std::get<TrimChange>(lifecycle->changes.at(1)).step, 1u);
  const auto branch = DecodeBranch(info, "exp", blocks[6]);
  ASSERT_TRUE(branch.ok()) << branch.status();
  EXPECT_EQ(branch->fork_step, 2u);
  EXPECT_EQ(DecodeBoundary(info, blocks[7]).value().snapshot, 2u);
}

}  // namespace
}  // namespace lakestream
