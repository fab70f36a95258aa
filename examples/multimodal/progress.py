"""What people see: one live line on a terminal, plain lines elsewhere, and the report at the end."""

import time

PLAIN_INTERVAL_S = 5


def bar(fraction, width=20):
    filled = int(min(max(fraction, 0), 1) * width)
    return "[" + "#" * filled + "." * (width - filled) + "]"


class Progress:
    def __init__(self, stream):
        self.stream = stream
        self.live = stream.isatty()
        self.shown_at = 0.0

    def update(self, line, last=False):
        if self.live:
            self.stream.write("\r\033[K" + line + ("\n" if last else ""))
        elif last or time.monotonic() - self.shown_at >= PLAIN_INTERVAL_S:
            self.shown_at = time.monotonic()
            self.stream.write(line + "\n")
        self.stream.flush()

    def say(self, line):
        self.stream.write(("\r\033[K" if self.live else "") + line + "\n")
        self.stream.flush()


def headline(demo):
    planned = ", ".join(f"{n} {kind}" for kind, n in demo.items.items())
    return (
        f"main job on {demo.store.uri}: {planned} items in {demo.total_steps} steps, "
        f"3 producers, 8 ranks (DP 4 x CP 2), seed {demo.arguments.seed}"
    )


def for_people(report, out):
    kills = "; ".join(
        f"{k['role']} {k['victim']} at step {k['step']} ({100 * k['fraction_of_run']:.0f}% of the run)"
        if k["step"]
        else f"no {k['role']} was killed"
        for k in report["kills"]
    )
    producers = ", ".join(
        f"{name} {p['items']} items in {p['steps']} steps" for name, p in report["by_producer"].items()
    )
    rank_steps = sorted({rank["steps"] for rank in report["by_rank"].values()})
    seconds = report["seconds"]
    rewind = report["rewind"]
    lines = [
        "",
        f"Lakestream main job: {'everything holds' if report['holds'] else 'SOMETHING IS WRONG'}",
        f"  stream        {report['uri']} ({report['store']}), {report['steps']} steps, sealed",
        f"  producers     {producers}",
        f"  ranks         {report['ranks']}, each saw {', '.join(map(str, rank_steps))} steps",
        f"  killed        {kills}",
        f"  rewind        to checkpoint {rewind['checkpoint']} at step {rewind['step']}: {rewind['steps_read_again']} steps "
        f"read again by all ranks, {'identical' if rewind['identical'] else 'NOT IDENTICAL'}",
        f"  items         {report['items_total']}: {report['items_missing']} missing, "
        f"{report['items_duplicated']} twice, {report['items_unexpected']} unexpected",
        f"  order         {report['torn_steps']} torn steps, {report['order_mismatches']} mismatches",
        f"  bytes         {report['checksum_errors']} checksum errors, {report['content_errors']} differ from "
        "their source",
        f"  written       {report['bytes_written'] / 1e6:.0f} MB in {report['commits']} commits "
        f"({report['commit_attempts']} attempts)",
        f"  read          {report['bytes_read'] / 1e6:.0f} MB by all ranks, {report['read_amplification']} x "
        "their slices",
        f"  took          {seconds} s, then {report['check_seconds']} s for the check "
        f"({report['bytes_written'] / 1e6 / max(seconds, 0.1):.0f} MB/s through the stream)",
        f"  emulated      {report['emulated']}",
    ]
    lines += [f"  ! {finding}" for finding in report["findings"]]
    lines += [
        "  look next     " + f"{out / 'report.json'} (this report), {out / 'logs'} (what each process said and saw),",
        "                " + f"'lakestream info {report['uri']}', 'lakestream verify {report['uri']}'"
        if report["store"] == "local"
        else "                " + f"{out / 'mirror'} (a copy of the stream: the server is gone)",
    ]
    return "\n".join(lines)
