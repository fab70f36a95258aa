// What a restart costs, at a thousand and at a million steps of history on a local store: a
// producer's way to its first new commit, a consumer's to its first TGB, both from nothing in
// memory; with the head hint and without it.
//
// The history is synthetic (long_history.h), and both end as far behind their last snapshot (64
// records), so that only its length differs. The page cache is warm; every write is synced.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "bench/report.h"
#include "bench/streams.h"
#include "store/metered_store.h"
#include "tests/support/long_history.h"

using namespace lakestream;
using namespace lakestream::bench;
using testing_support::LongHistory;

namespace {

constexpr Mesh kMesh{4, 2};
constexpr int kTimes = 7;

struct Cost {
  std::vector<double> seconds;
  double requests = 0;
};

// A stream with a past, and processes that come to it cold.
class Place {
 public:
  Place(const std::string& uri, Version versions)
      : store_(std::make_shared<MeteredStore>(Require(OpenStore(uri, {}, RealRuntime())))),
        resume_step_(versions / 2) {
    auto stream =
        Require(Stream::Create(store_, RealRuntime(), {.mesh = kMesh}, Deadline::Never()));
    LongHistory(*stream, {.versions = versions,
                          .readable_from = resume_step_,
                          .readable_end = resume_step_ + 600,
                          .can_lose_hint = true});
  }

  void RestartProducer(bool with_hint, Cost& cost) {
    Measured(with_hint, cost, [&](std::shared_ptr<Stream> stream) {
      auto producer =
          Require(Producer::Open(stream, {.name = LongHistory::kProducer}, Deadline::Never()));
      Require(producer->Write(testing_support::HistoryTgb(kMesh), "row", Deadline::Never()));
      Require(producer->Flush(Deadline::Never()));
      return producer;
    });
  }

  void ResumeConsumer(bool with_hint, Cost& cost) {
    Measured(with_hint, cost, [&](std::shared_ptr<Stream> stream) {
      auto consumer = Require(Consumer::Open(
          stream, {.start_step = resume_step_, .prefetch_steps = 1}, Deadline::Never()));
      if (!Require(consumer->Next(Deadline::Never()))) Require(InternalError("the stream ended"));
      return consumer;
    });
  }

 private:
  template <typename Start>
  void Measured(bool with_hint, Cost& cost, Start start) {
    const std::string hint = HeadKey(kMainBranch);
    if (!with_hint) Require(store_->Delete(std::span(&hint, 1), Deadline::Never()));
    const uint64_t before = store_->counts().requests();
    const double began = NowSeconds();
    const auto started = start(Require(Stream::Open(store_, RealRuntime(), Deadline::Never())));
    cost.seconds.push_back(NowSeconds() - began);
    cost.requests = static_cast<double>(store_->counts().requests() - before);
  }

  const std::shared_ptr<MeteredStore> store_;
  const Step resume_step_;
};

struct Costs {
  Cost producer, producer_no_hint, consumer, consumer_no_hint;
};

Measure Exactly(std::string name, double value, std::string goal = "", std::string note = "") {
  return {std::move(name), value, value, value, std::move(goal), std::move(note)};
}

}  // namespace

int main(int argc, char** argv) {
  const std::string folder = OptionOf(argc, argv, "--folder", "build/bench") + "/restart";
  std::filesystem::remove_all(folder);
  const std::string names[] = {"1e3", "1e6"};
  Place places[] = {{folder + "/1e3", 1088}, {folder + "/1e6", 1000000}};
  Costs costs[2];
  for (int time = 0; time < kTimes; ++time) {
    for (int i = 0; i < 2; ++i) {
      // Consumers first: they leave no hint behind, and every producer does.
      places[i].ResumeConsumer(true, costs[i].consumer);
      places[i].ResumeConsumer(false, costs[i].consumer_no_hint);
      places[i].RestartProducer(false, costs[i].producer_no_hint);
      places[i].RestartProducer(true, costs[i].producer);
    }
  }
  std::filesystem::remove_all(folder);

  const auto difference = [&](Cost Costs::*cost) {
    return (costs[1].*cost).requests - (costs[0].*cost).requests;
  };
  std::vector<Measure> measures;
  const auto add = [&](const std::string& what, Cost Costs::*cost, const std::string& goal) {
    for (const size_t i : {1, 0}) {
      const Cost& of_size = costs[i].*cost;
      measures.push_back(MedianOf(what + "_s_" + names[i], of_size.seconds, i == 1 ? goal : ""));
      measures.push_back(Exactly(what + "_requests_" + names[i], of_size.requests));
    }
  };
  add("restart_to_first_commit", &Costs::producer, "<= 1");
  add("resume_to_first_batch", &Costs::consumer, "<= 1");
  measures.push_back(Exactly("restart_requests_1e6_minus_1e3",
                             std::max(difference(&Costs::producer), difference(&Costs::consumer)),
                             "<= 4", "the larger of producer and consumer"));
  add("restart_to_first_commit_without_hint", &Costs::producer_no_hint, "");
  add("resume_to_first_batch_without_hint", &Costs::consumer_no_hint, "");
  measures.push_back(
      Exactly("restart_requests_1e6_minus_1e3_without_hint",
              std::max(difference(&Costs::producer_no_hint), difference(&Costs::consumer_no_hint)),
              "", "2 log2 of the ratio of the lengths is 20"));
  Report("restart", OptionOf(argc, argv, "--out", ""), CommandLine(argc, argv), measures);
  return 0;
}
