#include "base/text.h"
#include "lakestream/producer.h"
#include "sim/actors/actors.h"

namespace lakestream::sim {
namespace {

class ProducerActor {
 public:
  ProducerActor(World& world, Timeline& line, Process* process, uint32_t index)
      : world_(world),
        line_(line),
        process_(process),
        index_(index),
        runtime_(world.RuntimeOf(process)) {}

  ActorEnd Run() {
    const Time born = world_.scheduler.now();
    const Version versions = line_.log.view().records.size();
    const Status status = Live();
    RecordCost(born, versions);
    Say(Str("ends: ", status.ToString()));
    if (status.ok()) return ActorEnd::kDone;
    if (status.reason() == Reason::kSessionFenced) return ActorEnd::kFenced;
    return ActorEnd::kFailed;
  }

 private:
  Status Live() {
    LS_ASSIGN_OR_RETURN(std::shared_ptr<Stream> stream, OpenStream());
    const Status opened = OpenProducer(std::move(stream));
    if (opened.reason() == Reason::kSealed) return AfterSeal();
    LS_RETURN_IF_ERROR(opened);
    Status status = WriteItems();
    if (status.ok()) status = Finish();
    stats_ = producer_->stats();
    producer_.reset();
    return status;
  }

  Deadline Soon() {
    // Some callers are impatient: what they gave up must still come out right.
    const bool impatient = world_.options.short_deadlines && !world_.healed();
    const double longest = impatient ? 3e9 : 600e9;
    return After(
        *runtime_,
        Duration(static_cast<int64_t>(world_.random.LogUniform(impatient ? 1e6 : 300e9, longest))));
  }

  Result<std::shared_ptr<Stream>> OpenStream() {
    if (line_.parent != nullptr) {
      return Stream::Open(world_.StoreOf(runtime_), runtime_, Soon(), line_.branch);
    }
    return Stream::OpenOrCreate(world_.StoreOf(runtime_), runtime_, world_.Spec(), Soon());
  }

  Status OpenProducer(std::shared_ptr<Stream> stream) {
    const RunOptions& options = world_.options;
    ProducerOptions producer;
    producer.name = ProducerName(index_);
    producer.pending_bytes_max = options.pending_bytes_max;
    producer.object_bytes_target = options.object_bytes_target;
    producer.commit_interval = Duration(options.commit_interval);
    producer.uploads_max = options.uploads_max;
    if (line_.parent == nullptr) producer.ahead_steps_max = options.ahead_steps_max;
    producer.run_timeout = Duration(options.detach_after);
    if (world_.random.Chance(options.embedded_reclaim_chance)) {
      producer.reclaim_interval = Duration(options.reclaim_grace);
      producer.reclaim.fence_after = Duration(options.fence_after);
      producer.reclaim.abandon_after = Duration(options.abandon_after);
    }
    SessionOpened opened;
    opened.producer = index_;
    opened.started_at = world_.scheduler.now();
    LS_ASSIGN_OR_RETURN(producer_, Producer::Open(std::move(stream), producer, Soon()));
    opened.session = producer_->session();
    opened.at = world_.scheduler.now();
    opened.recovered_tgbs = producer_->recovered_tgbs();
    opened.recovered_next = ParseState(line_.items, index_, producer_->recovered_state());
    line_.history.sessions.push_back(opened);
    first_ = next_ = opened.recovered_next.value_or(0);
    Say(Str("opened session ", opened.session, ", recovered item ", next_));
    return OkStatus();
  }

  // A sealed stream must hold all that this producer has to give; the judge looks at that.
  Status AfterSeal() {
    Say("the stream is sealed already");
    return OkStatus();
  }

  // Calls again what an early deadline cut off.
  template <typename Call>
  Status Insist(const Call& call) {
    while (true) {
      const Status status = call();
      Acknowledge();
      if (status.code() != Code::kDeadlineExceeded) return status;
    }
  }

  Status WriteItems() {
    const RunOptions& options = world_.options;
    while (next_ < line_.items_each) {
      const Status written = Insist([&] {
        return producer_->Write(ItemTgb(line_.items, {index_, next_}, options.mesh),
                                StateBefore(line_.items, index_, next_ + 1), Soon());
      });
      LS_RETURN_IF_ERROR(written);
      line_.history.issued.push_back({index_, producer_->session(), world_.scheduler.now(), next_});
      ++next_;
      if (world_.random.Chance(options.flush_chance)) {
        LS_RETURN_IF_ERROR(Insist([&] { return producer_->Flush(Soon()); }));
        Acknowledge(next_);
      }
      const Time think =
          static_cast<Time>(world_.random.LogUniform(1e3, static_cast<double>(options.think_max)));
      runtime_->SleepUntil(runtime_->Now() + Duration(think));
    }
    return OkStatus();
  }

  Status Finish() {
    LS_RETURN_IF_ERROR(Insist([&] { return producer_->Finish(Soon()); }));
    Acknowledge(next_);
    return Insist([&] { return producer_->Close(Soon()); });
  }

  void Acknowledge() { Acknowledge(first_ + producer_->stats().tgbs_committed); }
  void Acknowledge(uint64_t items) {
    if (items <= acknowledged_) return;
    acknowledged_ = items;
    line_.history.acks.push_back({index_, producer_->session(), world_.scheduler.now(), items});
    Say(Str("items below ", items, " are committed"));
  }

  void RecordCost(Time born, Version versions) {
    ProcessCost cost;
    cost.process = process_->name;
    cost.producer = true;
    cost.disturbed = process_->faults > 0 || process_->paused_until > 0 || !world_.options.Calm() ||
                     world_.options.embedded_reclaim_chance > 0 ||
                     world_.options.profile.name_interval > 0;
    cost.requests = process_->requests;
    cost.versions = line_.log.view().records.size() - versions;
    cost.commit_attempts = stats_.commit_attempts + 1;
    cost.objects = process_->plain_puts;
    cost.seconds = static_cast<double>(world_.scheduler.now() - born) / 1e9;
    line_.history.costs.push_back(cost);
  }

  void Say(const std::string& text) { world_.Line(process_, text); }

  World& world_;
  Timeline& line_;
  Process* process_;
  const uint32_t index_;
  std::shared_ptr<SimRuntime> runtime_;
  std::unique_ptr<Producer> producer_;
  ProducerStats stats_;
  uint64_t first_ = 0;  // item of this session
  uint64_t next_ = 0;
  uint64_t acknowledged_ = 0;
};

}  // namespace

ActorEnd RunProducer(World& world, Timeline& line, Process* process, uint32_t index) {
  return ProducerActor(world, line, process, index).Run();
}

}  // namespace lakestream::sim
