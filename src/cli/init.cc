#include "cli/command.h"
#include "cli/output.h"

namespace lakestream::cli {
namespace {

struct Options {
  std::string mesh;
  StreamSpec spec;
  uint64_t reclaim_grace_ms = static_cast<uint64_t>(StreamSpec{}.reclaim_grace.count());
  bool if_missing = false;
};

Result<ExitCode> Run(Session& session, const Options& options) {
  StreamSpec spec = options.spec;
  LS_ASSIGN_OR_RETURN(spec.mesh, ParseMesh(options.mesh));
  spec.reclaim_grace = std::chrono::milliseconds(options.reclaim_grace_ms);
  LS_RETURN_IF_ERROR(ValidateSpec(spec));
  LS_ASSIGN_OR_RETURN(auto store, session.OpenStoreOfUri());
  auto created = options.if_missing
                     ? Stream::OpenOrCreate(store, session.runtime, spec, session.deadline())
                     : Stream::Create(store, session.runtime, spec, session.deadline());
  if (!created.ok()) return created.status();
  const StreamInfo& info = (*created)->info();
  if (session.json) {
    PrintJson({{"uri", store->Describe()}, {"uuid", info.uuid}, {"format", info.format_version}});
  } else {
    PrintLine("stream " + info.uuid + " is ready at " + store->Describe());
  }
  return kExitOk;
}

}  // namespace

void AddInit(CLI::App& app, Session& session, Action& chosen) {
  auto options = std::make_shared<Options>();
  CLI::App* command =
      AddCommand(app, session, chosen, "init", "create a stream",
                 "lakestream init s3://bucket/stream --mesh 4x2 --producers video,image,text",
                 [options](Session& s) { return Run(s, *options); });
  command->add_option("--mesh", options->mesh, "grid of ranks, DPxCP, such as 4x2")->required();
  command
      ->add_option("--producers", options->spec.producers,
                   "names of all producers: when each has finished, the stream is sealed")
      ->delimiter(',');
  command
      ->add_option("--zstd", options->spec.zstd_level,
                   "compress slices: zstd level 1 to 19; 0: not at all")
      ->check(Whole())
      ->capture_default_str();
  command
      ->add_option("--snapshot-interval", options->spec.snapshot_interval,
                   "versions from snapshot to snapshot")
      ->check(Whole())
      ->capture_default_str();
  command
      ->add_option("--index-page-steps", options->spec.index_page_steps, "steps in an index page")
      ->check(Whole())
      ->capture_default_str();
  command
      ->add_option("--samples-multiple", options->spec.samples_multiple,
                   "each slice holds a multiple of so many samples, so that jobs of up to so many "
                   "times the mesh's DP size can share them out; 0: slices are whole")
      ->check(Whole())
      ->capture_default_str();
  command
      ->add_option("--reclaim-grace", options->reclaim_grace_ms,
                   "what is given up stays in place so long at least")
      ->transform(Milliseconds())
      ->type_name("TIME")
      ->default_str("1h");
  command->add_flag("--if-missing", options->if_missing,
                    "succeed if such a stream is there already");
}

}  // namespace lakestream::cli
