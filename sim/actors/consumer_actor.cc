#include "base/text.h"
#include "lakestream/consumer.h"
#include "sim/actors/actors.h"

namespace lakestream::sim {
namespace {

class ConsumerActor {
 public:
  ConsumerActor(World& world, Timeline& line, Process* process, const ReaderPlan& plan, Step& saved)
      : world_(world),
        line_(line),
        process_(process),
        plan_(plan),
        dp_(plan.rank % world.options.mesh.dp),
        cp_(plan.rank / world.options.mesh.dp),
        saved_(saved),
        runtime_(world.RuntimeOf(process)) {}

  ActorEnd Run() {
    const Time born = world_.scheduler.now();
    const Version versions = line_.log.view().records.size();
    const Status status = Live();
    RecordCost(born, versions);
    Say(Str("ends: ", status.ToString()));
    if (status.ok()) return ActorEnd::kDone;
    // Also a rank that another one's attach has left behind: it takes a new run of the job.
    const bool refused = plan_.run && status.code() == Code::kFailedPrecondition;
    return refused ? ActorEnd::kRunOver : ActorEnd::kFailed;
  }

 private:
  Deadline Soon() {
    const bool impatient = world_.options.short_deadlines && !world_.healed();
    return After(*runtime_, Duration(static_cast<int64_t>(world_.random.LogUniform(
                                impatient ? 1e6 : 300e9, impatient ? 5e9 : 600e9))));
  }

  Status Live() {
    LS_ASSIGN_OR_RETURN(auto stream, OpenStream());
    const RunOptions& options = world_.options;
    ConsumerOptions consumer;
    consumer.dp_index = dp_;
    consumer.cp_index = cp_;
    consumer.mesh = options.mesh;
    consumer.start_step = plan_.start;
    consumer.run = plan_.run;
    consumer.prefetch_steps = options.prefetch_steps;
    consumer.prefetch_bytes = options.prefetch_bytes;
    consumer.fetches_max = options.fetches_max;
    consumer.poll_min = Duration(options.poll_min);
    reader_ = static_cast<uint32_t>(line_.history.readers.size());
    line_.history.readers.push_back({reader_, dp_, cp_, plan_.start, world_.scheduler.now()});
    if (plan_.run) Declare(plan_.start);  // where it starts is where it would start again
    auto opened = Consumer::Open(std::move(stream), consumer, Soon());
    if (!opened.ok()) return Refused(opened.status(), plan_.start);
    consumer_ = *std::move(opened);
    Say(Str("reader ", reader_, " of dp ", dp_, ", cp ", cp_, " opened at step ", plan_.start));
    return ReadToTheEnd();
  }

  Result<std::shared_ptr<Stream>> OpenStream() {
    if (line_.parent != nullptr) {
      return Stream::Open(world_.StoreOf(runtime_), runtime_, Soon(), line_.branch);
    }
    return Stream::OpenOrCreate(world_.StoreOf(runtime_), runtime_, world_.Spec(), Soon());
  }

  Status Refused(const Status& status, Step step) {
    ReaderRefused refusal{reader_, world_.scheduler.now(), step, status.reason(), "", ""};
    if (plan_.run) {
      refusal.job = plan_.run->job;
      refusal.run = plan_.run->run;
    }
    line_.history.refusals.push_back(refusal);
    return status;
  }

  void Declare(Step durable) {
    line_.history.durables.push_back(
        {plan_.run->job, plan_.run->run, plan_.run->rank, world_.scheduler.now(), durable});
  }

  // The job's own state is saved; what lies below is not needed any more.
  void Save() {
    saved_ = consumer_->position();
    if (!plan_.run || world_.random.Chance(0.3)) return;
    Declare(saved_);
    const Status status = consumer_->SetDurable(saved_);
    if (!status.ok()) world_.Report("nothing_lost", Str("SetDurable: ", status.ToString()));
  }

  Status ReadToTheEnd() {
    while (true) {
      Result<std::optional<ConsumedStep>> next = consumer_->Next(Soon());
      if (!next.ok()) {
        const Code code = next.status().code();
        const bool corrupt = code == Code::kDataLoss &&
                             next.status().reason() == Reason::kChecksum && process_->faults > 0;
        if (code == Code::kDeadlineExceeded || corrupt) continue;  // the position stays
        return Refused(next.status(), consumer_->position());
      }
      if (!*next) {
        line_.history.ends.push_back({reader_, world_.scheduler.now(), consumer_->position()});
        (void)consumer_->Close(Soon());
        return OkStatus();
      }
      Record(**next);
      if (world_.random.Chance(0.3)) Save();
    }
  }

  void Record(const ConsumedStep& slice) {
    SliceRead read;
    read.reader = reader_;
    read.at = world_.scheduler.now();
    read.step = slice.step;
    read.item = IdentifySlice(slice.slice().payload);
    read.intact =
        read.item && slice.slice().payload.text() ==
                         SlicePayload(line_.ItemsOf(read.step), *read.item, dp_, cp_).text();
    line_.history.reads.push_back(read);
    ++steps_;
    Say(Str("read step ", read.step, ": ",
            read.item ? Str("item ", read.item->item, " of producer ", read.item->producer)
                      : std::string("no item"),
            read.intact ? "" : ", NOT INTACT"));
  }

  void RecordCost(Time born, Version versions) {
    ProcessCost cost;
    cost.process = process_->name;
    cost.disturbed = process_->faults > 0 || process_->paused_until > 0 || !world_.options.Calm() ||
                     world_.options.embedded_reclaim_chance > 0 ||
                     world_.options.profile.name_interval > 0;
    cost.requests = process_->requests;
    cost.versions = line_.log.view().records.size() - versions;
    cost.steps = steps_;
    cost.seconds = static_cast<double>(world_.scheduler.now() - born) / 1e9;
    line_.history.costs.push_back(cost);
  }

  void Say(const std::string& text) { world_.Line(process_, text); }

  World& world_;
  Timeline& line_;
  Process* process_;
  const ReaderPlan plan_;
  const uint32_t dp_;
  const uint32_t cp_;
  Step& saved_;
  std::shared_ptr<SimRuntime> runtime_;
  std::unique_ptr<Consumer> consumer_;
  uint32_t reader_ = 0;
  uint64_t steps_ = 0;
};

}  // namespace

ActorEnd RunConsumer(World& world, Timeline& line, Process* process, const ReaderPlan& plan,
                     Step& saved) {
  return ConsumerActor(world, line, process, plan, saved).Run();
}

}  // namespace lakestream::sim
