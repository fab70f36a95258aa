#include "base/text.h"
#include "lakestream/consumer.h"
#include "sim/actors/actors.h"

namespace lakestream::sim {
namespace {

class ConsumerActor {
 public:
  ConsumerActor(World& world, Process* process, uint32_t rank, Step& saved)
      : world_(world),
        process_(process),
        dp_(rank % world.options.mesh.dp),
        cp_(rank / world.options.mesh.dp),
        saved_(saved),
        runtime_(world.RuntimeOf(process)) {}

  ActorEnd Run(Step start) {
    const Time born = world_.scheduler.now();
    const Version versions = world_.log().view().records.size();
    const Status status = Live(start);
    RecordCost(born, versions);
    Say(Str("ends: ", status.ToString()));
    return status.ok() ? ActorEnd::kDone : ActorEnd::kFailed;
  }

 private:
  Deadline Soon() {
    const bool impatient = world_.options.short_deadlines && !world_.healed();
    return After(*runtime_, Duration(static_cast<int64_t>(world_.random.LogUniform(
                                impatient ? 1e6 : 300e9, impatient ? 5e9 : 600e9))));
  }

  Status Live(Step start) {
    LS_ASSIGN_OR_RETURN(auto stream, Stream::OpenOrCreate(world_.StoreOf(runtime_), runtime_,
                                                          world_.Spec(), Soon()));
    const RunOptions& options = world_.options;
    ConsumerOptions consumer;
    consumer.dp_index = dp_;
    consumer.cp_index = cp_;
    consumer.mesh = options.mesh;
    consumer.start_step = start;
    consumer.prefetch_steps = options.prefetch_steps;
    consumer.prefetch_bytes = options.prefetch_bytes;
    consumer.fetches_max = options.fetches_max;
    consumer.poll_min = Duration(options.poll_min);
    LS_ASSIGN_OR_RETURN(consumer_, Consumer::Open(std::move(stream), consumer, Soon()));
    reader_ = static_cast<uint32_t>(world_.history.readers.size());
    world_.history.readers.push_back({reader_, dp_, cp_, start});
    Say(Str("reader ", reader_, " of dp ", dp_, ", cp ", cp_, " opened at step ", start));
    return ReadToTheEnd();
  }

  Status ReadToTheEnd() {
    while (true) {
      Result<std::optional<ConsumedStep>> next = consumer_->Next(Soon());
      if (!next.ok()) {
        const Code code = next.status().code();
        const bool corrupt = code == Code::kDataLoss &&
                             next.status().reason() == Reason::kChecksum && process_->faults > 0;
        if (code == Code::kDeadlineExceeded || corrupt) continue;  // the position stays
        return next.status();
      }
      if (!*next) {
        world_.history.ends.push_back({reader_, world_.scheduler.now(), consumer_->position()});
        return OkStatus();
      }
      Record(**next);
      if (world_.random.Chance(0.3)) saved_ = consumer_->position();
    }
  }

  void Record(const ConsumedStep& slice) {
    SliceRead read;
    read.reader = reader_;
    read.at = world_.scheduler.now();
    read.step = slice.step;
    read.item = IdentifySlice(slice.slice().payload);
    read.intact = read.item && slice.slice().payload.text() ==
                                   SlicePayload(world_.options.items, *read.item, dp_, cp_).text();
    world_.history.reads.push_back(read);
    ++steps_;
    Say(Str("read step ", read.step, ": ",
            read.item ? Str("item ", read.item->item, " of producer ", read.item->producer)
                      : std::string("no item"),
            read.intact ? "" : ", NOT INTACT"));
  }

  void RecordCost(Time born, Version versions) {
    ProcessCost cost;
    cost.process = process_->name;
    cost.disturbed = process_->faults > 0 || process_->paused_until > 0 || !world_.options.Calm();
    cost.requests = process_->requests;
    cost.versions = world_.log().view().records.size() - versions;
    cost.steps = steps_;
    cost.seconds = static_cast<double>(world_.scheduler.now() - born) / 1e9;
    world_.history.costs.push_back(cost);
  }

  void Say(const std::string& text) { world_.Line(process_, text); }

  World& world_;
  Process* process_;
  const uint32_t dp_;
  const uint32_t cp_;
  Step& saved_;
  std::shared_ptr<SimRuntime> runtime_;
  std::unique_ptr<Consumer> consumer_;
  uint32_t reader_ = 0;
  uint64_t steps_ = 0;
};

}  // namespace

ActorEnd RunConsumer(World& world, Process* process, uint32_t rank, Step start, Step& saved) {
  return ConsumerActor(world, process, rank, saved).Run(start);
}

}  // namespace lakestream::sim
