// Producer: publishes TGBs, exactly once, through crashes and restarts.
//
// A producer has a stable name. Opening it starts a new session, which fences any older one: the
// older session can never commit again. With each TGB comes an opaque *state* (the source's cursor
// right behind it), which is committed in the same atomic write; after a restart recovered_state()
// says where to go on.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "lakestream/lifecycle.h"
#include "lakestream/stream.h"
#include "lakestream/tgb.h"

namespace lakestream {

struct ProducerOptions {
  std::string name;
  // Write() blocks while more payload than this is written but not yet committed. Peak memory of a
  // producer is about this plus one TGB.
  uint64_t pending_bytes_max = 256ull << 20;
  // Small TGBs of one commit share data objects up to this size; larger TGBs get one object each.
  uint64_t object_bytes_target = 32ull << 20;
  // Mean time between commit attempts while there is work; an idle producer's first TGB is
  // committed at once.
  Duration commit_interval = std::chrono::milliseconds(200);
  // Uploads of data objects under way at once.
  uint32_t uploads_max = 4;
  // Back-pressure: nothing more is published while the stream is so far ahead of the slowest
  // attached run, in steps or in stored bytes (by the mean size of a step); 0: no limit. What one
  // commit carries may pass the limit. Then Write() blocks by pending_bytes_max. Finish and what
  // other clients commit (checkpoints, trims, seals) are never held back.
  uint64_t ahead_steps_max = 0;
  uint64_t ahead_bytes_max = 0;
  // A run without a sign of life for so long, by the store's clock, holds this producer back no
  // more; a warning says so.
  Duration run_timeout = std::chrono::minutes(10);
  // Reclamation as a low-rate duty beside producing: a pass over the whole stream about this often
  // (with jitter; any number of producers may do it). Zero: none.
  Duration reclaim_interval = Duration::zero();
  ReclaimOptions reclaim;
};

struct ProducerStats {
  uint64_t tgbs_written = 0;    // accepted by Write()
  uint64_t tgbs_committed = 0;  // by this session
  uint64_t payload_bytes = 0;   // committed
  uint64_t commits = 0;
  uint64_t commit_attempts = 0;  // conditional puts sent
  uint64_t conflicts = 0;        // slots lost to others
  uint64_t undecided = 0;        // puts whose outcome had to be read back
  uint64_t held_back = 0;        // attempts put off by back-pressure
  Version version = 0;           // newest version known
  Step next_step = 0;            // of the stream, at that version
};

// Thread-safe: but TGBs written by several threads get some order. Uses background threads from
// Open() to Close(). After fork() only the process that opened it may use it.
class Producer {
 public:
  // Starts a session (one commit). kFailedPrecondition with kSealed if the stream has ended, with
  // kSessionFenced if another session of the same name opened at the same moment; kInvalidArgument
  // if the stream declares its producers and this name is not one of them.
  static Result<std::unique_ptr<Producer>> Open(std::shared_ptr<Stream> stream,
                                                const ProducerOptions& options,
                                                const Deadline& deadline);
  virtual ~Producer() = default;  // stops the threads; what was not committed stays uncommitted

  // The state committed with this producer's last TGB by any session, as of this session's start;
  // empty if none.
  virtual const std::string& recovered_state() const = 0;
  // TGBs that sessions before this one committed.
  virtual uint64_t recovered_tgbs() const = 0;
  virtual SessionId session() const = 0;

  // Hands over a TGB and the state right behind it (at most 1 MiB). Returns once it is queued:
  // *not* durable yet. Blocks while pending_bytes_max is exceeded. Durable and visible once a later
  // Flush(), Finish() or Close() is OK, or stats().tgbs_committed has counted it. Any failure of
  // the background work is returned by the next call; after kSessionFenced and kSealed the producer
  // is over.
  virtual Status Write(Tgb tgb, std::string state, const Deadline& deadline) = 0;
  // Until all that was written is committed; does not wait for the pace. On kDeadlineExceeded the
  // work goes on.
  virtual Status Flush(const Deadline& deadline) = 0;
  // Flush, then record that this producer has no more TGBs, then close. Seals the stream if it is
  // the last declared one. A later session may still open and write, until the stream is sealed;
  // its first TGB takes the finish back.
  virtual Status Finish(const Deadline& deadline) = 0;
  // Flush, then stop the threads. The session can be followed by another.
  virtual Status Close(const Deadline& deadline) = 0;

  virtual ProducerStats stats() const = 0;
};

}  // namespace lakestream
