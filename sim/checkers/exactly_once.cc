#include <algorithm>
#include <map>

#include "base/text.h"
#include "sim/checkers/checkers.h"

namespace lakestream::sim {
namespace {

constexpr char kName[] = "exactly_once";

// What one producer has committed, as the log grows.
struct Progress {
  uint64_t items = 0;
  // At each record that changed it, or opened a session: (when, items so far).
  std::vector<std::pair<Time, uint64_t>> by_time;
};

class Judge {
 public:
  explicit Judge(const Evidence& evidence) : evidence_(evidence), producers_(evidence.producers) {}

  std::vector<Violation> Run() {
    for (const ViewRecord& record : evidence_.log.records) ReadRecord(record);
    if (evidence_.complete) CheckComplete();
    for (const ItemsAcked& ack : evidence_.history.acks) CheckAck(ack);
    for (const SessionOpened& opened : evidence_.history.sessions) CheckRecovery(opened);
    CheckReaders();
    return std::move(violations_);
  }

 private:
  void Report(std::string detail) { violations_.push_back({kName, std::move(detail)}); }

  void ReadRecord(const ViewRecord& record) {
    for (const ViewOpen& open : record.opens) {
      if (open.fence) continue;
      const std::optional<uint32_t> producer = ProducerIndex(open.producer);
      if (!producer || *producer >= producers_.size()) continue;
      producer_of_[open.session] = *producer;
      recovered_[open.session] = producers_[*producer].items;
    }
    for (const ViewEntry& entry : record.entries) ReadEntry(record, entry);
  }

  void ReadEntry(const ViewRecord& record, const ViewEntry& entry) {
    const std::string where = Str("record ", record.version, ", session ", entry.session);
    const auto owner = producer_of_.find(entry.session);
    if (owner == producer_of_.end()) return Report(where + ": publishes, but was never opened");
    Progress& progress = producers_[owner->second];
    for (size_t i = 0; i < entry.items.size(); ++i) {
      if (!entry.items[i]) continue;  // atomic_visibility says so
      const ItemId expected{owner->second, progress.items};
      if (*entry.items[i] != expected) {
        Report(Str(where, ", step ", entry.first_step + i, ": item ", entry.items[i]->item,
                   " of producer ", entry.items[i]->producer, ", but item ", expected.item,
                   " of producer ", expected.producer, " is next"));
      }
      progress.items = entry.items[i]->item + 1;
    }
    const auto next = ParseState(evidence_.law, owner->second, entry.state);
    if (entry.state_intact && (!next || *next != progress.items)) {
      Report(Str(where, ": its state is not the one behind item ", progress.items, " - 1"));
    }
    progress.by_time.emplace_back(record.applied_at, progress.items);
  }

  void CheckComplete() {
    for (uint32_t p = 0; p < producers_.size(); ++p) {
      if (producers_[p].items == evidence_.items_each) continue;
      Report(Str("producer ", p, ": ", producers_[p].items, " items were committed, not ",
                 evidence_.items_each));
    }
  }

  uint64_t ItemsAt(uint32_t producer, Time at) const {
    uint64_t items = 0;
    for (const auto& [when, count] : producers_[producer].by_time) {
      if (when <= at) items = count;
    }
    return items;
  }

  void CheckAck(const ItemsAcked& ack) {
    const uint64_t items = ItemsAt(ack.producer, ack.at);
    if (ack.items <= items) return;
    Report(Str("producer ", ack.producer, " session ", ack.session, " was told at ",
               TimeText(ack.at), " that ", ack.items, " items are committed; the log had ", items));
  }

  void CheckRecovery(const SessionOpened& opened) {
    const std::string who = Str("producer ", opened.producer, " session ", opened.session);
    const auto found = recovered_.find(opened.session);
    if (found == recovered_.end()) return Report(who + ": opened, but the log has no such session");
    if (opened.recovered_next != found->second || opened.recovered_tgbs != found->second) {
      Report(Str(who, ": recovered item ",
                 opened.recovered_next ? std::to_string(*opened.recovered_next) : "(bad state)",
                 " after ", opened.recovered_tgbs, " TGBs; its open record has ", found->second,
                 " items before it"));
    }
  }

  // Each incarnation reads start, start + 1, ... each once.
  void CheckReaders() {
    std::vector<Step> position;
    for (const ReaderOpened& reader : evidence_.history.readers) position.push_back(reader.start);
    for (const SliceRead& read : evidence_.history.reads) {
      if (read.step != position[read.reader]) {
        Report(Str("reader ", read.reader, ": read step ", read.step, ", not ",
                   position[read.reader]));
      }
      position[read.reader] = read.step + 1;
    }
    for (const StreamEnded& end : evidence_.history.ends) {
      if (end.end == position[end.reader]) continue;
      Report(Str("reader ", end.reader, ": ended at step ", end.end, " after it had read up to ",
                 position[end.reader]));
    }
  }

  const Evidence& evidence_;
  std::vector<Progress> producers_;
  std::map<SessionId, uint32_t> producer_of_;
  std::map<SessionId, uint64_t> recovered_;  // items before the session's open record
  std::vector<Violation> violations_;
};

}  // namespace

std::vector<Violation> CheckExactlyOnce(const Evidence& evidence) { return Judge(evidence).Run(); }

}  // namespace lakestream::sim
