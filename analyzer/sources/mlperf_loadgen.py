"""MLPerf LoadGen's trace (mlperf_log_trace.json), one request per sample; the tool's latencies begin at the schedule.

The trace's last lines say when it began, by the clock that LoadGen reads: unix time with most compilers. Token counts
stand in the answers of an accuracy run beside it, the operating point in the detail log.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from analyzer.errors import SourceError
from analyzer.sources.base import Frame, Frames
from analyzer.sources.loadgen_files import Told, beside, entries, is_trace, told
from analyzer.sources.loadgen_samples import Gathered, marks
from analyzer.sources.opening import lines
from analyzer.sources.refusing import outline, refused
from analyzer.sources.request_rows import event_rows
from analyzer.vocabulary import ClockKind, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import polars as pl

    from analyzer.sources.base import Options

CLOCK = "mlperf_loadgen"
# Between 2001 and 2128 a number of nanoseconds can only be unix time.
_UNIX_NS = (10**18, 5 * 10**18)
_TORN = "torn last line: the file ends inside it"


def _counts(path: Path | None, limit: int) -> pl.DataFrame:
    """Output tokens by sample number, from the answers of an accuracy run; none for a sample told in two ways."""
    import polars as pl

    pieces = [pl.DataFrame(schema={"seq": pl.Int64, "output_tokens": pl.Int64})]
    for block in lines(path, limit) if path else ():
        line = pl.col("line")
        pieces.append(
            cast("pl.DataFrame", pl.from_arrow(block.table)).select(
                seq=line.str.extract(r'"seq_id"\s*:\s*([0-9]{1,16})[\s,}]').cast(pl.Int64),
                output_tokens=line.str.extract(r'"token_count"\s*:\s*([0-9]{1,16})\s*\}').cast(pl.Int64),
            )
        )
    found = pl.concat(pieces).drop_nulls().group_by("seq").agg(pl.col("output_tokens").unique())
    return found.filter(pl.col("output_tokens").list.len() == 1).explode("output_tokens")


def _rows(trace: Gathered, samples: pl.DataFrame, load_point: str | None, label: str) -> pl.DataFrame:
    """Request rows from samples with their output tokens."""
    import polars as pl

    origin = trace.origin if trace.origin and _UNIX_NS[0] <= trace.origin < _UNIX_NS[1] else None
    begin = pl.col("scheduled") + (origin or 0)
    own = pl.col("seq").is_not_null() & pl.col("seq").is_unique()
    return samples.select(
        "position",
        "output_tokens",
        # A number is a sample's own in its trace only.
        request=pl.when(own).then(pl.lit(label + "#") + pl.col("seq").cast(pl.String))
        .otherwise(pl.lit(label + "#line ") + pl.col("position").cast(pl.String)),
        clock=pl.lit(CLOCK),
        clock_kind=pl.lit(str(ClockKind.WALL if origin else ClockKind.MONOTONIC)),
        load_point=pl.lit(load_point, pl.String),
        scheduled_ns=begin if trace.scheduled else pl.lit(None, pl.Int64),
        sent_ns=begin + pl.col("issued"),
        first_content_ns=begin + pl.col("first"),
        done_ns=begin + pl.col("done"),
        # A completed sample is an answered one: LoadGen knows no other end.
        outcome=pl.when(pl.col("done").is_not_null()).then(pl.lit(str(Outcome.OK))),
        streamed=pl.when(pl.col("first").is_not_null()).then(pl.lit(value=True)),
    )  # fmt: skip


def _notes(trace: Gathered, samples: pl.DataFrame, lost: int) -> list[str]:
    import polars as pl

    notes = []
    if not trace.ended:
        pending = samples["done"].null_count()
        notes.append(
            f"the trace was cut off: {len(samples) - pending} samples ended in it, {pending} had a first token and no"
            " end; samples without either are not in it"
        )
    if not trace.scheduled and len(samples):
        notes.append("the scenario has no open-loop schedule, so none is taken from the trace")
    if lost:
        notes.append(f"{lost} first tokens belong to samples of one time and delay, and are given to none of them")
    short = samples.filter(pl.col("output_tokens") <= 1).height
    if short:
        notes.append(
            f"{short} samples have no more than one token: LoadGen's own time per output token of them is below zero"
        )
    return notes


def _refusals(frame: pl.DataFrame, torn: int | None) -> list[tuple[str, str, str]]:
    import polars as pl

    bad = frame.filter(pl.col("reason").is_not_null()).select("position", "reason", "line")
    return [
        (f"line {position}", _TORN if position == torn else reason, outline(line))
        for position, reason, line in bad.rows()
    ]


class _LoadGen:
    name = "mlperf_loadgen"

    def sniff(self, head: bytes, path: Path) -> bool:  # noqa: ARG002 (content decides, not the name)
        """A trace for Chrome's viewer that begins with spans of LoadGen's own."""
        return is_trace(head)

    def explain(self, head: bytes, path: Path) -> str | None:
        """Why an empty trace is one: LoadGen makes the file whether it traces or not."""
        if not head.strip() and beside(path, "trace") == path and beside(path, "detail"):
            return "it is empty, as LoadGen leaves it when it runs without LogSettings.enable_trace"
        return None

    def read(self, path: Path, options: Options) -> Iterator[Frames]:
        """Rows of `event`, all of a trace's samples at once, as their lines lie apart."""
        run, notes = Told(), []
        counts = _counts(None, 0)
        try:
            if log := beside(path, "detail"):
                run = told(entries(log, options.max_line_bytes))
            counts = _counts(beside(path, "accuracy"), options.max_line_bytes)
        except SourceError as fault:
            notes.append(f"what lies beside the trace was not read: {fault}")
        yield Frames(tool=f"mlperf_loadgen {run.version}" if run.version else "mlperf_loadgen")
        trace = Gathered()
        for block in lines(path, options.max_line_bytes):
            frame = marks(block.table)
            trace.take(frame)
            broken = [(f"line {position}", reason, outline(raw)) for position, reason, raw in block.broken]
            broken += _refusals(frame, block.torn_position)
            yield Frames(refused(options.label, broken), records=len(broken), bytes_read=block.bytes_read)
        if trace.pieces:
            samples, lost = trace.samples()
            samples = samples.join(counts, on="seq", how="left", maintain_order="left")
            rows = _rows(trace, samples, run.load_point, options.label)
            frames = (Frame("event", rows.to_arrow(), event_rows("SELECT * FROM input", options)),) if len(rows) else ()
            yield Frames(frames, records=len(rows), notes=(*notes, *_notes(trace, samples, lost)))


SOURCE = _LoadGen()
