"""MLPerf LoadGen's trace (mlperf_log_trace.json), one request per sample; read line by line, as it is no valid JSON.

Times count from the start of the trace, in microseconds with three decimals. Its last lines say when that was, by the
clock that LoadGen reads: unix time with most compilers. The tool's own latencies begin at the schedule.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from analyzer.errors import SourceError
from analyzer.sources.base import Frame, Frames
from analyzer.sources.loadgen_files import Told, beside, entries, is_trace, told
from analyzer.sources.opening import lines
from analyzer.sources.refusing import outline, refused
from analyzer.sources.request_rows import event_rows
from analyzer.vocabulary import ClockKind, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import polars as pl
    import pyarrow as pa

    from analyzer.sources.base import Options

CLOCK = "mlperf_loadgen"
# Kinds of lines that tell of samples: the whole of one, its first token, its end as a counter.
_SAMPLE, _FIRST, _LAST, _CLOSING = "sample", "first", "last", "closing"
# Between 2001 and 2128 a number of microseconds can only be unix time.
_UNIX_US = (10**15, 5 * 10**15)
_KEY = ["scheduled", "issued"]
_TORN = "torn last line: the file ends inside it"
_NO_EVENT = "it is no event of a trace"
_NO_TIMES = "a sample of which a time is missing or out of range"


def _number(name: str, digits: int = 16) -> pl.Expr:
    import polars as pl

    return pl.col("line").str.extract(rf'"{name}"\s*:\s*(-?[0-9]{{1,{digits}}})[\s,}}]').cast(pl.Int64)


def _nanoseconds() -> pl.Expr:
    """`ts`, microseconds with three decimals, in nanoseconds."""
    import polars as pl

    parts = pl.col("line").str.extract_groups(r'"ts"\s*:\s*(?<us>[0-9]{1,15})\.(?<ns>[0-9]{3})[\s,}]')
    us, ns = (parts.struct.field(name).cast(pl.Int64) for name in ("us", "ns"))
    return us * 1000 + ns


def marks(table: pa.Table) -> pl.DataFrame:
    """What each line says of a sample: kind, seq, scheduled, issued, done (ns after the schedule), or why it cannot."""
    import polars as pl

    line, name = pl.col("line"), pl.col("name")
    begins = line.str.contains(r'"ph"\s*:\s*"b"')
    kind = (
        pl.when((name == "Sample") & begins).then(pl.lit(_SAMPLE))
        .when((name == "Token_Latency") | ((name == "Token") & begins)).then(pl.lit(_FIRST))
        .when(name == "Latency").then(pl.lit(_LAST))
        .when(name == "LastTrace").then(pl.lit(_CLOSING))
    )  # fmt: skip
    frame = cast("pl.DataFrame", pl.from_arrow(table)).with_columns(
        name=line.str.extract(r'^(?:\{\s*"traceEvents"\s*:\s*\[\s*)?\{\s*"name"\s*:\s*"([^"]*)"'),
        closed=line.str.contains(r"\}\s*,?$"),
        framing=line.str.contains(
            r'^(?:\{\s*"traceEvents"\s*:\s*\[|\]\s*,?|\}|"(?:displayTimeUnit|otherData|ts|version)"\s*:.*)$'
        ),
    )
    frame = frame.with_columns(
        kind=kind,
        seq=_number("sample_seq"),
        scheduled=_nanoseconds(),
        issued=pl.coalesce(_number("issue_start_ns"), _number("issue_delay")),
        done=pl.coalesce(_number("complete_ns"), _number("issue_delay") + _number("issue_to_done")),
    )
    timed = pl.all_horizontal(pl.col("closed", "scheduled", "issued", "done").is_not_null()) & pl.col("closed")
    return frame.with_columns(
        reason=pl.when(~pl.col("framing") & (name.is_null() | ~pl.col("closed")))
        .then(pl.lit(_NO_EVENT))
        .when(pl.col("kind").is_in([_SAMPLE, _FIRST, _LAST]) & ~timed)
        .then(pl.lit(_NO_TIMES))
        .when((pl.col("kind") == _SAMPLE) & pl.col("seq").is_null())
        .then(pl.lit("a sample without a number"))
    )


def _origin(frame: pl.DataFrame) -> int | None:
    """When the trace began, in ns of LoadGen's clock, from its last lines; None where they say nothing."""
    import polars as pl

    stated = frame.select(
        pl.col("line").str.extract_groups(r'^"ts"\s*:\s*(?<us>[0-9]{1,16})\.(?<ns>[0-9]{1,3})\s*,?$').struct.unnest()
    ).drop_nulls()
    return int(stated["us"][0]) * 1000 + int(stated["ns"][0].ljust(3, "0")) if len(stated) else None


@dataclass(slots=True)
class _Trace:
    """What was gathered of a trace's lines."""

    told: Told
    pieces: list[pl.DataFrame] = field(default_factory=list)
    origin: int | None = None
    ended: bool = False

    def take(self, frame: pl.DataFrame) -> None:
        import polars as pl

        self.ended = self.ended or _CLOSING in frame["kind"]
        if self.origin is None:
            self.origin = _origin(frame.filter(pl.col("framing")))
        kept = frame.filter(pl.col("reason").is_null() & pl.col("kind").is_in([_SAMPLE, _FIRST, _LAST]))
        self.pieces.append(kept.select("position", "kind", "name", "seq", *_KEY, "done"))


def _requests(found: pl.DataFrame) -> tuple[pl.DataFrame, int]:
    """One row per sample: seq, scheduled, issued, first, done, position; and how many first tokens nobody can place.

    A first token, or an end, whose sample is not in the file stands for a sample that the file was cut off in.
    """
    import polars as pl

    samples = found.filter(pl.col("kind") == _SAMPLE).select("position", "seq", *_KEY, "done")
    ends = found.filter(pl.col("kind") == _LAST).select("position", *_KEY, "done")
    ends = ends.join(samples, on=_KEY, how="anti")
    samples = pl.concat([samples, ends], how="diagonal")
    first = found.filter(pl.col("kind") == _FIRST)
    begun = first.filter(pl.col("seq").is_not_null()).join(samples, on="seq", how="anti").unique("seq", keep="first")
    samples = pl.concat([samples, begun.select("position", "seq", *_KEY)], how="diagonal")
    # Where there is a schedule a first token says no number, and its schedule and delay are its name.
    by_key = first.filter(pl.col("seq").is_null()).group_by(_KEY).agg(
        first=pl.col("done").min(), told=pl.len(), at=pl.col("position").min()
    )  # fmt: skip
    by_seq = first.filter(pl.col("seq").is_not_null()).group_by("seq").agg(numbered=pl.col("done").min())
    alike = pl.struct(_KEY).is_duplicated()
    whole = (
        samples.with_columns(alike=alike)
        .join(by_key, on=_KEY, how="full", coalesce=True)
        .join(by_seq, on="seq", how="left")
    )
    unclear = (pl.col("told") > 1) | pl.col("alike").fill_null(value=False)
    lost = whole.filter(pl.col("first").is_not_null() & unclear)["told"].sum()
    return whole.with_columns(
        first=pl.coalesce("numbered", pl.when(~unclear.fill_null(value=False)).then("first")),
        position=pl.coalesce("position", "at"),
    ).sort("position"), int(lost or 0)


def _counts(path: Path | None, limit: int) -> pl.DataFrame:
    """Output tokens by sample number, from the answers that an accuracy run logs; a sample told in two ways has none."""
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
    told = pl.concat(pieces).drop_nulls().group_by("seq").agg(pl.col("output_tokens").unique())
    return told.filter(pl.col("output_tokens").list.len() == 1).explode("output_tokens")


def _rows(trace: _Trace, counts: pl.DataFrame, options: Options) -> tuple[pl.DataFrame, list[str]]:
    """Request rows of a whole trace, and what is to be said of them."""
    import polars as pl

    found = pl.concat(trace.pieces)
    scheduled = bool((found["name"].is_in(["Latency", "Token_Latency"])).any())
    rows, lost = _requests(found)
    rows = rows.join(counts, on="seq", how="left", maintain_order="left")
    origin = trace.origin if trace.origin and _UNIX_US[0] <= trace.origin // 1000 < _UNIX_US[1] else None
    begin = pl.col("scheduled") + (origin or 0)
    own = pl.col("seq").is_not_null() & pl.col("seq").is_unique()
    rows = rows.select(
        "position",
        "output_tokens",
        request=pl.when(own).then(pl.lit(options.label + "#") + pl.col("seq").cast(pl.String))
        .otherwise(pl.lit(options.label + "#line ") + pl.col("position").cast(pl.String)),
        clock=pl.lit(CLOCK),
        clock_kind=pl.lit(str(ClockKind.WALL if origin else ClockKind.MONOTONIC)),
        load_point=pl.lit(trace.told.load_point, pl.String),
        scheduled_ns=begin if scheduled else pl.lit(None, pl.Int64),
        sent_ns=begin + pl.col("issued"),
        first_content_ns=begin + pl.col("first"),
        done_ns=begin + pl.col("done"),
        # A completed sample is an answered one: LoadGen knows no other end.
        outcome=pl.when(pl.col("done").is_not_null()).then(pl.lit(str(Outcome.OK))),
        streamed=pl.when(pl.col("first").is_not_null()).then(pl.lit(value=True)),
    )  # fmt: skip
    return rows, _notes(trace, rows, scheduled=scheduled, lost=lost)


def _notes(trace: _Trace, rows: pl.DataFrame, *, scheduled: bool, lost: int) -> list[str]:
    import polars as pl

    notes = []
    if not trace.ended:
        pending = rows["done_ns"].null_count()
        notes.append(
            f"the trace was cut off: {len(rows) - pending} samples ended in it, {pending} had a first token and no end;"
            " samples without either are not in it"
        )
    if not scheduled and len(rows):
        notes.append("the scenario has no open-loop schedule, so none is taken from the trace")
    if lost:
        notes.append(
            f"{lost} first tokens belong to samples of the same time and delay, and were given to none of them"
        )
    short = rows.filter(pl.col("output_tokens") <= 1).height
    if short:
        notes.append(
            f"{short} samples have no more than one token: LoadGen's own time per output token of them is below zero"
        )
    return notes


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
        log = beside(path, "detail")
        trace, notes = _Trace(Told()), []
        try:
            trace.told = told(entries(log, options.max_line_bytes)) if log else Told()
            counts = _counts(beside(path, "accuracy"), options.max_line_bytes)
        except SourceError as fault:
            notes.append(f"what lies beside the trace was not read: {fault}")
            counts = _counts(None, 0)
        version = trace.told.version
        yield Frames(tool=f"mlperf_loadgen {version}" if version else "mlperf_loadgen")
        for block in lines(path, options.max_line_bytes):
            frame = marks(block.table)
            trace.take(frame)
            broken = [(f"line {position}", reason, outline(raw)) for position, reason, raw in block.broken]
            broken += _refusals(frame, block.torn_position)
            yield Frames(refused(options.label, broken), records=len(broken), bytes_read=block.bytes_read)
        if trace.pieces:
            rows, said = _rows(trace, counts, options)
            frames = (Frame("event", rows.to_arrow(), event_rows("SELECT * FROM input", options)),) if len(rows) else ()
            yield Frames(frames, records=len(rows), notes=(*notes, *said))


def _refusals(frame: pl.DataFrame, torn: int | None) -> list[tuple[str, str, str]]:
    import polars as pl

    rows: list[dict[str, Any]] = (
        frame.filter(pl.col("reason").is_not_null()).select("position", "reason", "line").to_dicts()
    )
    return [
        (f"line {row['position']}", _TORN if row["position"] == torn else row["reason"], outline(row["line"]))
        for row in rows
    ]


SOURCE = _LoadGen()
