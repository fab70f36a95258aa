#include <algorithm>

#include "base/text.h"
#include "lakestream/admin.h"
#include "ledger/follower.h"
#include "stream/ledger_context.h"

namespace lakestream {
namespace {

constexpr Duration kPollMin = std::chrono::milliseconds(100);
constexpr Duration kPollMax = std::chrono::seconds(2);

// One line a change. Publishes of one session that follow each other share a line.
class Describer {
 public:
  // `state` names the producers of current sessions; older ones are known by their number alone.
  Describer(Step first_step, const State& state) : step_(first_step), state_(state) {}

  void operator()(const OpenChange& open) {
    std::string line = Str("open ", open.producer);
    if (open.expected_session > 0) line += Str(" after session ", open.expected_session);
    Say(std::move(line));
  }
  void operator()(const PublishChange& publish) {
    if (objects_ > 0 && session_ != publish.entry.session) EndPublish();
    session_ = publish.entry.session;
    tgbs_ += publish.entry.tgb_count();
    ++objects_;
    bytes_ += publish.entry.object_bytes;
  }
  void operator()(const FinishChange& finish) { Say(Str("finish ", NameOf(finish.session))); }
  void operator()(const SealChange&) { Say("seal"); }
  void operator()(const BeginCheckpointChange& begin) {
    Say(begin.parts == 0 ? Str("checkpoint ", begin.name, " at step ", begin.step)
                         : Str("begin checkpoint ", begin.name, " at step ", begin.step, ", ",
                               begin.parts, " parts"));
  }
  void operator()(const CompleteCheckpointChange& complete) {
    Say(Str("complete checkpoint ", complete.name));
  }
  void operator()(const DropCheckpointChange& drop) { Say(Str("drop checkpoint ", drop.name)); }
  void operator()(const PinCheckpointChange& pin) {
    Say(Str(pin.pinned ? "pin" : "unpin", " checkpoint ", pin.name));
  }
  void operator()(const TrimChange& trim) { Say(Str("trim steps below ", trim.step)); }
  void operator()(const ForkChange& fork) {
    Say(Str("branch ", fork.branch, " at step ", fork.step));
  }
  void operator()(const FenceChange& fence) {
    Say(Str("fence ", fence.producer, " session ", fence.expected_session));
  }
  void operator()(const AttachChange& attach) {
    Say(Str("attach job ", attach.job, " run ", attach.run, ": ", attach.ranks,
            attach.ranks == 1 ? " rank" : " ranks", " from step ", attach.start));
  }
  void operator()(const DetachChange& detach) {
    Say(Str("detach job ", detach.job, " run ", detach.run));
  }
  void operator()(const CloseChange&) { Say("close the branch"); }
  void operator()(const ForgetBranchChange& forget) { Say(Str("forget branch ", forget.branch)); }
  std::vector<std::string> Take() {
    EndPublish();
    return std::move(lines_);
  }

 private:
  void Say(std::string line) {
    EndPublish();
    lines_.push_back(std::move(line));
  }
  std::string NameOf(SessionId session) const {
    const auto owner = state_.producer_of_session.find(session);
    return Str(owner == state_.producer_of_session.end() ? "" : owner->second + " ", "session ",
               session);
  }
  void EndPublish() {
    if (objects_ == 0) return;
    lines_.push_back(Str("publish ", NameOf(session_), ": steps ", step_, "..", step_ + tgbs_ - 1,
                         ", ", tgbs_, tgbs_ == 1 ? " TGB, " : " TGBs, ", objects_,
                         objects_ == 1 ? " object, " : " objects, ", bytes_, " bytes"));
    step_ += tgbs_;
    tgbs_ = objects_ = bytes_ = 0;
  }

  Step step_;
  const State& state_;
  SessionId session_ = 0;
  uint64_t tgbs_ = 0;
  uint64_t objects_ = 0;
  uint64_t bytes_ = 0;
  std::vector<std::string> lines_;
};

CommitInfo Describe(const ReadRecord& read, const State& state) {
  Describer describer(read.record.first_step, state);
  for (const Change& change : read.record.changes) std::visit(describer, change);
  return {read.record.version, read.record.first_step, read.record.next_step, read.record.time_ms,
          read.bytes,          describer.Take()};
}

}  // namespace

Status Tail(Stream& stream, Version from, bool follow,
            const std::function<bool(const CommitInfo&)>& on_commit, const Deadline& deadline) {
  const LedgerContext context = ContextOf(stream);
  Follower follower(context);
  LS_RETURN_IF_ERROR(follower.Start(deadline));
  // Versions before the head are read one by one for display; the rest comes through the follower.
  const Version first = std::max(from, follower.boundary().first_kept());
  for (Version version = first; version <= follower.state().version; ++version) {
    LS_ASSIGN_OR_RETURN(const auto read, ReadSlot(context, version, deadline));
    if (!read)
      return DataLossError(
          Str(LogKey(context.branch(), version), " is missing; run 'lakestream verify'"));
    if (!on_commit(Describe(*read, follower.state()))) return OkStatus();
  }
  bool stopped = false;
  follower.set_observer(
      [&](const ReadRecord& read, const State& state, const std::vector<IndexPage>&) {
        if (!stopped && read.record.version >= from) stopped = !on_commit(Describe(read, state));
      });
  Duration pause = kPollMin;
  while (follow && !stopped && !follower.state().sealed) {
    const Version before = follower.state().version;
    LS_RETURN_IF_ERROR(follower.CatchUp(deadline));
    pause = follower.state().version > before ? kPollMin : std::min(pause * 3 / 2, kPollMax);
    if (!stopped && !follower.state().sealed)
      LS_RETURN_IF_ERROR(SleepFor(stream.runtime(), pause, deadline));
  }
  return OkStatus();
}

}  // namespace lakestream
