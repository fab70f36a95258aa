#include <gtest/gtest.h>

#include "base/text.h"
#include "manifest/apply.h"
#include "manifest/frame.h"
#include "manifest/keys.h"
#include "manifest/stream_json.h"

namespace lakestream {
namespace {

StreamInfo TestInfo() {
  StreamInfo info;
  info.uuid = "00112233445566778899aabbccddeeff";
  info.created_ms = 1;
  info.spec.mesh = {2, 1};
  info.spec.index_page_steps = 4;
  return info;
}

Entry TestEntry(SessionId session, uint32_t object, uint64_t first_sequence, uint32_t tgbs) {
  Entry entry;
  entry.session = session;
  entry.object = object;
  entry.first_sequence = first_sequence;
  entry.layout.tgb_count = tgbs;
  entry.layout.runs = {{2ull * tgbs, 3}};
  entry.object_bytes = 64 + entry.layout.FrameBytes() + 128;
  entry.state = StateRef::Of(Str("cursor-", first_sequence + tgbs), 0);
  return entry;
}

// Applies changes as one commit after another, each through its encoded form.
class History {
 public:
  explicit History(StreamInfo stream = TestInfo())
      : info(std::move(stream)), state(EmptyState(info)) {}

  Status Commit(std::vector<Change> changes) {
    CommitId id{};
    id[0] = static_cast<uint8_t>(state.version + 1);
    const auto bytes = EncodeRecord(MakeRecord(info, state, std::move(changes), id, 5));
    auto record = DecodeRecord(bytes, info.spec.mesh);
    if (!record.ok()) return record.status();
    auto pages = Apply(info, *record, RecordHash(bytes), state);
    if (!pages.ok()) return pages.status();
    for (IndexPage& page : *pages) sealed_pages.push_back(std::move(page));
    return OkStatus();
  }
  Status Open(const std::string& name, SessionId expected) {
    return Commit({OpenChange{name, expected}});
  }
  Status Publish(const Entry& entry) { return Commit({PublishChange{entry}}); }

  StreamInfo info;
  State state;
  std::vector<IndexPage> sealed_pages;
};

TEST(ApplyTest, PublishingMovesTheRowAndTheSteps) {
  History history;
  ASSERT_TRUE(history.Open("a", 0).ok());
  ASSERT_TRUE(history.Publish(TestEntry(1, 0, 0, 3)).ok());
  ASSERT_TRUE(history.Publish(TestEntry(1, 1, 3, 2)).ok());
  const ProducerRow& row = history.state.rows.at("a");
  EXPECT_EQ(history.state.next_step, 5u);
  EXPECT_EQ(row.next_sequence, 5u);
  EXPECT_EQ(row.tgbs, 5u);
  EXPECT_EQ(row.state.inline_bytes, "cursor-5");
  ASSERT_EQ(history.sealed_pages.size(), 1u);
  EXPECT_EQ(history.sealed_pages[0].entries.size(),
            2u);  // the second entry straddles the page's end
  ASSERT_EQ(history.state.tail.size(), 1u);
  EXPECT_EQ(history.state.tail[0].first_step, 3u);
}

TEST(ApplyTest, AnEntryCountsOnlyAsTheNextOfTheCurrentSession) {
  for (const Entry& wrong : {TestEntry(1, 0, 1, 1), TestEntry(2, 0, 0, 1)}) {
    History history;
    ASSERT_TRUE(history.Open("a", 0).ok());
    EXPECT_EQ(history.Publish(wrong).code(), Code::kDataLoss);
  }
  History history;  // the same entry twice
  ASSERT_TRUE(history.Open("a", 0).ok());
  ASSERT_TRUE(history.Publish(TestEntry(1, 0, 0, 1)).ok());
  EXPECT_EQ(history.Publish(TestEntry(1, 0, 0, 1)).code(), Code::kDataLoss);
}

TEST(ApplyTest, AnOpenReplacesExactlyTheSessionThatItNames) {
  History history;
  ASSERT_TRUE(history.Open("a", 0).ok());
  ASSERT_TRUE(history.Publish(TestEntry(1, 0, 0, 2)).ok());
  ASSERT_TRUE(history.Open("a", 1).ok());
  const ProducerRow& row = history.state.rows.at("a");
  EXPECT_EQ(row.session, 2u);
  EXPECT_EQ(row.next_sequence, 0u);
  EXPECT_EQ(row.tgbs, 2u);
  EXPECT_EQ(row.state.inline_bytes, "cursor-2");  // what the new session recovers
  EXPECT_EQ(history.Open("a", 1).code(), Code::kDataLoss);
}

TEST(ApplyTest, ASupersededSessionNeverCountsAgain) {
  History history;
  ASSERT_TRUE(history.Open("a", 0).ok());
  ASSERT_TRUE(history.Open("a", 1).ok());
  EXPECT_EQ(history.Publish(TestEntry(1, 0, 0, 1)).code(), Code::kDataLoss);
}

TEST(ApplyTest, NothingFollowsASeal) {
  const std::vector<Change> all = {OpenChange{"a", 1}, PublishChange{TestEntry(1, 0, 0, 1)},
                                   FinishChange{1}, SealChange{}};
  for (const Change& change : all) {
    History history;
    ASSERT_TRUE(history.Open("a", 0).ok());
    ASSERT_TRUE(history.Commit({SealChange{}}).ok());
    EXPECT_FALSE(history.Commit({change}).ok());
  }
}

TEST(ApplyTest, TheLastDeclaredFinishSeals) {
  StreamInfo info = TestInfo();
  info.spec.producers = {"a", "b"};
  History history(info);
  ASSERT_TRUE(history.Open("a", 0).ok());
  ASSERT_TRUE(history.Commit({FinishChange{1}}).ok());
  EXPECT_FALSE(history.state.sealed);
  ASSERT_TRUE(history.Open("b", 0).ok());
  ASSERT_TRUE(history.Commit({FinishChange{2}}).ok());
  EXPECT_TRUE(history.state.sealed);
  History stranger(info);
  EXPECT_FALSE(stranger.Open("c", 0).ok());
}

// A stray start of a producer that has finished must not keep the stream from its end.
TEST(ApplyTest, AnOpenDoesNotTakeAFinishBack) {
  StreamInfo info = TestInfo();
  info.spec.producers = {"a", "b"};
  History history(info);
  ASSERT_TRUE(history.Open("a", 0).ok());
  ASSERT_TRUE(history.Commit({FinishChange{1}}).ok());
  ASSERT_TRUE(history.Open("a", 1).ok());
  EXPECT_FALSE(history.Commit({FinishChange{2}}).ok()) << "has finished already";
}

TEST(ApplyTest, TheStreamIsSealedAlthoughAFinishedProducerWasOpenedAgain) {
  StreamInfo info = TestInfo();
  info.spec.producers = {"a", "b"};
  History history(info);
  ASSERT_TRUE(history.Open("a", 0).ok());
  ASSERT_TRUE(history.Commit({FinishChange{1}}).ok());
  ASSERT_TRUE(history.Open("a", 1).ok());
  ASSERT_TRUE(history.Open("b", 0).ok());
  ASSERT_TRUE(history.Commit({FinishChange{3}}).ok());
  EXPECT_TRUE(history.state.sealed);
}

TEST(ApplyTest, WhoPublishesAgainHasNotFinished) {
  StreamInfo info = TestInfo();
  info.spec.producers = {"a", "b"};
  History history(info);
  ASSERT_TRUE(history.Open("a", 0).ok());
  ASSERT_TRUE(history.Commit({FinishChange{1}}).ok());
  ASSERT_TRUE(history.Open("a", 1).ok());
  ASSERT_TRUE(history.Publish(TestEntry(2, 0, 0, 1)).ok());
  ASSERT_TRUE(history.Open("b", 0).ok());
  ASSERT_TRUE(history.Commit({FinishChange{3}}).ok());
  EXPECT_FALSE(history.state.sealed);
  ASSERT_TRUE(history.Commit({FinishChange{2}}).ok());
  EXPECT_TRUE(history.state.sealed);
}

TEST(ApplyTest, ABrokenChainIsReportedAsChangedHistory) {
  History history;
  ASSERT_TRUE(history.Open("a", 0).ok());
  Record record = MakeRecord(history.info, history.state, {SealChange{}}, CommitId{}, 0);
  record.previous[3] ^= 1;
  auto applied = Apply(history.info, record, Hash128{}, history.state);
  EXPECT_EQ(applied.status().code(), Code::kDataLoss);
  EXPECT_EQ(applied.status().reason(), Reason::kHistoryChanged);
}

TEST(ApplyTest, StepsThatDoNotAddUpAreRefused) {
  for (int field = 0; field < 3; ++field) {
    History history;
    ASSERT_TRUE(history.Open("a", 0).ok());
    Record record = MakeRecord(history.info, history.state, {PublishChange{TestEntry(1, 0, 0, 2)}},
                               CommitId{}, 0);
    if (field == 0) record.first_step = 1;
    if (field == 1) record.next_step = 1;
    if (field == 2) record.version = 7;
    EXPECT_EQ(Apply(history.info, record, Hash128{}, history.state).status().code(),
              Code::kDataLoss);
  }
}

TEST(ApplyTest, EntriesStandInTheOrderOfTheirRanks) {
  History history;
  ASSERT_TRUE(history.Open("a", 0).ok());
  ASSERT_TRUE(history.Open("b", 0).ok());
  const Version version = history.state.version + 1;
  const bool a_first = SessionRank(version, 1, 2) < SessionRank(version, 2, 2);
  const Change first = PublishChange{TestEntry(a_first ? 1 : 2, 0, 0, 1)};
  const Change second = PublishChange{TestEntry(a_first ? 2 : 1, 0, 0, 1)};
  History copy = history;
  EXPECT_TRUE(history.Commit({first, second}).ok());
  EXPECT_EQ(copy.Commit({second, first}).code(), Code::kDataLoss);
}

TEST(SessionRankTest, EverySessionIsFirstNowAndThen) {
  std::vector<int> first(5, 0);
  for (Version version = 1; version <= 1000; ++version) {
    std::vector<uint64_t> ranks;
    for (SessionId session = 1; session <= 5; ++session)
      ranks.push_back(SessionRank(version, session, 5));
    std::vector<uint64_t> sorted = ranks;
    std::sort(sorted.begin(), sorted.end());
    EXPECT_EQ(sorted, (std::vector<uint64_t>{0, 1, 2, 3, 4}));
    ++first[std::find(ranks.begin(), ranks.end(), 0u) - ranks.begin()];
  }
  for (int count : first) EXPECT_GT(count, 100);
}

TEST(SnapshotTest, RoundTripsAndIsCanonical) {
  History history;
  ASSERT_TRUE(history.Open("b", 0).ok());
  ASSERT_TRUE(history.Open("a", 0).ok());
  ASSERT_TRUE(history.Publish(TestEntry(2, 0, 0, 6)).ok());
  const auto bytes = EncodeSnapshot(history.info, history.state);
  auto decoded = DecodeSnapshot(history.info, bytes);
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(*decoded, history.state);
  EXPECT_EQ(EncodeSnapshot(history.info, *decoded), bytes);
  StreamInfo other = history.info;
  other.uuid[0] = 'f';
  EXPECT_EQ(DecodeSnapshot(other, bytes).status().reason(), Reason::kStreamMismatch);
}

TEST(SnapshotTest, StatesThatContradictThemselvesAreRefused) {
  History history;
  ASSERT_TRUE(history.Open("a", 0).ok());
  ASSERT_TRUE(history.Publish(TestEntry(1, 0, 0, 6)).ok());
  const auto broken = [&](auto&& damage) {
    State state = history.state;
    damage(state);
    return DecodeSnapshot(history.info, EncodeSnapshot(history.info, state)).status().code();
  };
  EXPECT_EQ(broken([](State&) {}), Code::kOk);
  EXPECT_EQ(broken([](State& s) { s.next_step = 7; }), Code::kDataLoss);
  EXPECT_EQ(broken([](State& s) { s.sessions_opened = 0; }), Code::kDataLoss);
  EXPECT_EQ(broken([](State& s) { s.tail.clear(); }), Code::kDataLoss);
  EXPECT_EQ(broken([](State& s) { s.rows["a"].next_sequence = 9; }), Code::kDataLoss);
  EXPECT_EQ(broken([](State& s) { s.rows["b"] = s.rows["a"]; }), Code::kDataLoss);
}

TEST(IndexPageTest, RoundTripsAndChecksItsCover) {
  History history;
  ASSERT_TRUE(history.Open("a", 0).ok());
  ASSERT_TRUE(history.Publish(TestEntry(1, 0, 0, 6)).ok());
  ASSERT_TRUE(history.Publish(TestEntry(1, 1, 6, 6)).ok());
  ASSERT_EQ(history.sealed_pages.size(), 3u);
  for (const IndexPage& page : history.sealed_pages) {
    const auto bytes = EncodeIndexPage(history.info, page);
    auto decoded = DecodeIndexPage(history.info, page.page, bytes);
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    EXPECT_EQ(*decoded, page);
    EXPECT_FALSE(DecodeIndexPage(history.info, page.page + 1, bytes).ok());
    for (Step step = page.page * 4; step < page.page * 4 + 4; ++step) {
      const PlacedEntry* placed = FindStep(page.entries, step);
      ASSERT_NE(placed, nullptr);
      EXPECT_EQ(placed->first_step, step / 6 * 6);
    }
  }
  EXPECT_EQ(FindStep(history.sealed_pages[0].entries, 99), nullptr);
}

TEST(RecordTest, EveryBitFlipAndTruncationIsDetected) {
  History history;
  ASSERT_TRUE(history.Open("a", 0).ok());
  const auto bytes = EncodeRecord(MakeRecord(
      history.info, history.state, {PublishChange{TestEntry(1, 0, 0, 2)}}, CommitId{}, 9));
  ASSERT_TRUE(DecodeRecord(bytes, history.info.spec.mesh).ok());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(DecodeRecord(ConstBytes(bytes).first(size), history.info.spec.mesh).ok());
  }
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    auto flipped = bytes;
    flipped[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    EXPECT_FALSE(DecodeRecord(flipped, history.info.spec.mesh).ok()) << bit;
  }
}

TEST(FrameTest, ANewerFormatSaysSo) {
  const auto framed = SealFrame("LSLOG002", AsBytes("anything"));
  EXPECT_EQ(OpenFrame(kRecordMagic, framed).status().reason(), Reason::kFormatTooNew);
  const auto other = SealFrame(kSnapshotMagic, AsBytes("anything"));
  EXPECT_EQ(OpenFrame(kRecordMagic, other).status().code(), Code::kDataLoss);
}

TEST(KeysTest, RoundTrip) {
  EXPECT_EQ(LogKey("main", 7), "log/main/00000000000000000007");
  EXPECT_EQ(ParseNumberedKey(LogKey("main", 7), LogPrefix("main")), 7u);
  EXPECT_EQ(DataKey("main", 3, 12), "data/main/00000000000000000003-0000000012.tgb");
  EXPECT_EQ(ParseDataKey(DataKey("main", 3, 12), "main"), (DataObjectId{3, 12}));
  for (const char* foreign : {"data/main/x", "data/main/00000000000000000003-9999999999.tgb",
                              "data/main/+0000000000000000003-0000000012.tgb", "data/other/"}) {
    EXPECT_EQ(ParseDataKey(foreign, "main"), std::nullopt) << foreign;
  }
}

TEST(StreamJsonTest, RoundTrips) {
  StreamInfo info = TestInfo();
  info.spec.producers = {"a", "b"};
  info.spec.zstd_level = 3;
  auto decoded = DecodeStreamJson(EncodeStreamJson(info));
  ASSERT_TRUE(decoded.ok()) << decoded.status();
  EXPECT_EQ(decoded->uuid, info.uuid);
  EXPECT_EQ(decoded->spec.producers, info.spec.producers);
  EXPECT_EQ(decoded->spec.mesh, info.spec.mesh);
  EXPECT_EQ(decoded->spec.zstd_level, 3);
}

TEST(StreamJsonTest, NewerFormatsAndUnknownFeaturesAreRefused) {
  std::string text = EncodeStreamJson(TestInfo());
  std::string newer = text;
  newer.replace(newer.find("\"format\": 1"), 11, "\"format\": 2");
  EXPECT_EQ(DecodeStreamJson(newer).status().reason(), Reason::kFormatTooNew);
  std::string feature = text;
  feature.replace(feature.find("[]"), 2, "[\"reclaim\"]");
  EXPECT_EQ(DecodeStreamJson(feature).status().reason(), Reason::kFormatTooNew);
}

TEST(StreamJsonTest, DamageIsDataLoss) {
  const std::string text = EncodeStreamJson(TestInfo());
  for (size_t size = 0; size + 3 < text.size(); ++size) {
    EXPECT_EQ(DecodeStreamJson(text.substr(0, size)).status().code(), Code::kDataLoss) << size;
  }
  for (const char* bad :
       {"{}", "[]", "{\"format\":\"x\",\"features\":[]}", "{\"format\":-1,\"features\":[]}"}) {
    EXPECT_EQ(DecodeStreamJson(bad).status().code(), Code::kDataLoss) << bad;
  }
}

TEST(ValidateTest, NamesAndSpecsOutsideTheRulesAreRefused) {
  for (const char* bad : {"", ".x", "-x", "a/b", "a b", "\xc3\xa4"}) {
    EXPECT_EQ(ValidateName("producer", bad).code(), Code::kInvalidArgument) << bad;
  }
  EXPECT_TRUE(ValidateName("producer", "video-17.b_2").ok());
  EXPECT_FALSE(ValidateSpec({.mesh = {0, 1}}).ok());
  EXPECT_FALSE(ValidateSpec({.mesh = {1u << 31, 2}}).ok());
  EXPECT_FALSE(ValidateSpec({.producers = {"a", "a"}}).ok());
  EXPECT_TRUE(ValidateSpec({.mesh = {4, 2}, .producers = {"a", "b"}}).ok());
}

}  // namespace
}  // namespace lakestream
