// What a commit and a cold start cost as history grows: versions = steps = 10, 1e3, 1e6, 1e7.
//
// The history is synthetic (long_history.h). A real follower, committer and housekeeping go on from
// there, one step a commit.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "bench/report.h"
#include "bench/streams.h"
#include "ledger/committer.h"
#include "ledger/housekeeping.h"
#include "store/memory_store.h"
#include "store/metered_store.h"
#include "tests/support/long_history.h"

using namespace lakestream;
using namespace lakestream::bench;
using testing_support::LongHistory;

namespace {

constexpr Mesh kMesh{4, 2};

// A writer at the head of a history.
class Writer {
 public:
  Writer(std::shared_ptr<ObjectStore> store, std::shared_ptr<Runtime> runtime, Version versions)
      : metered_(std::make_shared<MeteredStore>(std::move(store))) {
    stream_ =
        Require(Stream::Create(metered_, std::move(runtime), {.mesh = kMesh}, Deadline::Never()));
    history_ = std::make_unique<LongHistory>(*stream_,
                                             testing_support::HistoryShape{.versions = versions});
    const StoreCounts before = metered_->counts();
    const double began = NowSeconds();
    follower_ =
        std::make_unique<Follower>(LedgerContext{*metered_, stream_->runtime(), stream_->info()});
    committer_ = std::make_unique<Committer>(*follower_);
    housekeeping_ = std::make_unique<Housekeeping>(*follower_);
    follower_->set_observer(
        [this](const ReadRecord&, const State& state, const std::vector<IndexPage>& pages) {
          housekeeping_->OnFolded(state, pages);
        });
    Require(follower_->Start(Deadline::Never()));
    start_seconds = NowSeconds() - began;
    start_requests = static_cast<double>(metered_->counts().requests() - before.requests());
  }

  // Commits `count` times; seconds for each.
  double Commit(int count) {
    const StoreCounts before = metered_->counts();
    const double began = NowSeconds();
    for (int i = 0; i < count; ++i) {
      Require(committer_->Commit(
          [this](const State& state) {
            return std::vector<Change>{PublishChange{history_->NextEntry(state)}};
          },
          Deadline::Never()));
      housekeeping_->AfterCommits(committer_->TakeOwnVersions(), Deadline::Never());
    }
    const double seconds = (NowSeconds() - began) / count;
    const StoreCounts after = metered_->counts();
    requests = static_cast<double>(after.requests() - before.requests()) / count;
    bytes = static_cast<double>(after.bytes_read + after.bytes_written - before.bytes_read -
                                before.bytes_written) /
            count;
    return seconds;
  }

  double start_seconds = 0;
  double start_requests = 0;
  double requests = 0;  // of one commit, housekeeping included
  double bytes = 0;

 private:
  std::shared_ptr<MeteredStore> metered_;
  std::shared_ptr<Stream> stream_;
  std::unique_ptr<LongHistory> history_;
  std::unique_ptr<Follower> follower_;
  std::unique_ptr<Committer> committer_;
  std::unique_ptr<Housekeeping> housekeeping_;
};

Measure Reported(std::string name, double value, std::string goal = "", std::string note = "") {
  return {std::move(name), value, value, value, std::move(goal), std::move(note)};
}

void Compare(const std::string& kind,
             const std::function<std::shared_ptr<ObjectStore>(const std::string&)>& make_store,
             int commits, int pairs, std::vector<Measure>& measures) {
  auto runtime = RealRuntime();
  const std::vector<std::pair<std::string, Version>> sizes = {
      {"10", 10}, {"1e3", 1000}, {"1e6", 1000000}, {"1e7", 10000000}};
  std::vector<std::unique_ptr<Writer>> writers;
  for (const auto& [name, versions] : sizes) {
    writers.push_back(std::make_unique<Writer>(make_store(name), runtime, versions));
  }
  const auto ratio = [&](size_t a, size_t b) {
    return InterleavedRatios(
        pairs, [&] { return writers[a]->Commit(commits); },
        [&] { return writers[b]->Commit(commits); });
  };
  measures.push_back(MedianOf("commit_time_1e6_vs_1e3_steps_" + kind, ratio(2, 1), "<= 1.1"));
  measures.push_back(MedianOf("commit_time_1e7_vs_10_steps_" + kind, ratio(3, 0), "<= 1.1"));
  for (size_t i = 0; i < sizes.size(); ++i) {
    const std::string suffix = "_" + kind + "_" + sizes[i].first;
    measures.push_back(Reported("commit_seconds" + suffix, writers[i]->Commit(commits)));
    measures.push_back(Reported("commit_requests" + suffix, writers[i]->requests, "",
                                "snapshots, pages and hint included"));
    measures.push_back(Reported("commit_bytes" + suffix, writers[i]->bytes));
    measures.push_back(
        Reported("cold_start_requests" + suffix, writers[i]->start_requests, "", "fresh hint"));
    measures.push_back(Reported("cold_start_seconds" + suffix, writers[i]->start_seconds));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = OptionOf(argc, argv, "--folder", "build/bench") + "/commit";
  const int pairs = std::stoi(OptionOf(argc, argv, "--pairs", "9"));
  std::vector<Measure> measures;
  Compare(
      "memory",
      [](const std::string& name) -> std::shared_ptr<ObjectStore> {
        return std::make_shared<MemoryStore>(RealRuntime(), name);
      },
      2000, pairs, measures);
  std::filesystem::remove_all(folder);
  Compare(
      "local",
      [&](const std::string& name) {
        return Require(OpenStore(folder + "/" + name, {}, RealRuntime()));
      },
      250, pairs, measures);
  std::filesystem::remove_all(folder);
  Measure worse = measures[0];
  for (const Measure& measure : measures) {
    if (measure.name.starts_with("commit_time_1e6_vs_1e3") && measure.value > worse.value)
      worse = measure;
  }
  worse.name = "commit_time_1e6_vs_1e3_steps";
  worse.note = "the worse of the memory store (computing alone) and the local store (fsync)";
  measures.insert(measures.begin(), worse);
  Report("commit", OptionOf(argc, argv, "--out", ""), CommandLine(argc, argv), measures);
  return 0;
}
