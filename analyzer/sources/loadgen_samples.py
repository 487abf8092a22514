"""Samples from the lines of an MLPerf LoadGen trace, which is no valid JSON: whole columns, and joined at its end.

Times count from the start of the trace, in microseconds with three decimals. A sample's own line says how long after
its schedule it was issued and done, a counter how long after its first token came.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

# Kinds of lines that tell of samples: the whole of one, its first token, its end as a counter.
SAMPLE, FIRST, LAST, CLOSING = "sample", "first", "last", "closing"
NO_EVENT = "it is no event of a trace"
NO_TIMES = "a sample of which a time is missing or out of range"
NO_NUMBER = "a sample without a number"
_KEY = ["scheduled", "issued"]
_COUNTERS = ["Latency", "Token_Latency"]
_NAME = r'^(?:\{\s*"traceEvents"\s*:\s*\[\s*)?\{\s*"name"\s*:\s*"([^"]*)"'
_FRAMING = r'^(?:\{\s*"traceEvents"\s*:\s*\[|\]\s*,?|\}|"(?:displayTimeUnit|otherData|ts|version)"\s*:.*)$'
_ORIGIN = r'^"ts"\s*:\s*(?<us>[0-9]{1,16})\.(?<ns>[0-9]{1,3})\s*,?$'


def _number(name: str) -> pl.Expr:
    import polars as pl

    return pl.col("line").str.extract(rf'"{name}"\s*:\s*(-?[0-9]{{1,16}})[\s,}}]').cast(pl.Int64)


def _nanoseconds() -> pl.Expr:
    import polars as pl

    parts = pl.col("line").str.extract_groups(r'"ts"\s*:\s*(?<us>[0-9]{1,15})\.(?<ns>[0-9]{3})[\s,}]')
    us, ns = (parts.struct.field(name).cast(pl.Int64) for name in ("us", "ns"))
    return us * 1000 + ns


def _kind() -> pl.Expr:
    import polars as pl

    name, begins = pl.col("name"), pl.col("line").str.contains(r'"ph"\s*:\s*"b"')
    return (
        pl.when((name == "Sample") & begins).then(pl.lit(SAMPLE))
        .when((name == "Token_Latency") | ((name == "Token") & begins)).then(pl.lit(FIRST))
        .when(name == "Latency").then(pl.lit(LAST))
        .when(name == "LastTrace").then(pl.lit(CLOSING))
    )  # fmt: skip


def _reason() -> pl.Expr:
    import polars as pl

    kind, closed = pl.col("kind"), pl.col("closed")
    timed = pl.all_horizontal(pl.col("scheduled", "issued", "done").is_not_null())
    return (
        pl.when(~pl.col("framing") & (pl.col("name").is_null() | ~closed)).then(pl.lit(NO_EVENT))
        .when(kind.is_in([SAMPLE, FIRST, LAST]) & ~timed).then(pl.lit(NO_TIMES))
        .when((kind == SAMPLE) & pl.col("seq").is_null()).then(pl.lit(NO_NUMBER))
    )  # fmt: skip


def marks(table: pa.Table) -> pl.DataFrame:
    """What each line says of a sample: kind, seq, scheduled, and issued and done in ns after that; or why it cannot."""
    import polars as pl

    line = pl.col("line")
    frame = cast("pl.DataFrame", pl.from_arrow(table)).with_columns(
        name=line.str.extract(_NAME), closed=line.str.contains(r"\}\s*,?$"), framing=line.str.contains(_FRAMING)
    )
    frame = frame.with_columns(
        kind=_kind(),
        seq=_number("sample_seq"),
        scheduled=_nanoseconds(),
        issued=pl.coalesce(_number("issue_start_ns"), _number("issue_delay")),
        done=pl.coalesce(_number("complete_ns"), _number("issue_delay") + _number("issue_to_done")),
    )
    return frame.with_columns(reason=_reason())


@dataclass(slots=True)
class Gathered:
    """What was gathered of a trace's lines.

    `origin` is when it began, in ns of LoadGen's clock, `ended` whether it was closed, `scheduled` whether its
    scenario has a schedule: only then are there counters.
    """

    pieces: list[pl.DataFrame] = field(default_factory=list)
    origin: int | None = None
    ended: bool = False
    scheduled: bool = False

    def take(self, frame: pl.DataFrame) -> None:
        """Keep what the marks of some lines say."""
        import polars as pl

        self.ended = self.ended or CLOSING in frame["kind"]
        self.scheduled = self.scheduled or bool(frame["name"].is_in(_COUNTERS).any())
        stated = frame.filter(pl.col("framing")).select(pl.col("line").str.extract_groups(_ORIGIN).struct.unnest())
        for us, ns in stated.drop_nulls().rows():
            self.origin = self.origin or int(us) * 1000 + int(ns.ljust(3, "0"))
        kept = frame.filter(pl.col("reason").is_null() & pl.col("kind").is_in([SAMPLE, FIRST, LAST]))
        self.pieces.append(kept.select("position", "kind", "seq", *_KEY, "done"))

    def samples(self) -> tuple[pl.DataFrame, int]:
        """One row per sample in the order of lines, and how many first tokens nobody can place.

        seq, scheduled (ns from the start of the trace), issued, first and done (ns after scheduled), position. A first
        token, or an end, whose sample is not in the file stands for a sample that the file was cut off in.
        """
        import polars as pl

        found = pl.concat(self.pieces)
        samples = found.filter(pl.col("kind") == SAMPLE).select("position", "seq", *_KEY, "done")
        first = found.filter(pl.col("kind") == FIRST)
        # Where there is a schedule a first token says no number: its schedule and delay are its name.
        keyed, numbered = first.filter(pl.col("seq").is_null()), first.filter(pl.col("seq").is_not_null())
        ends = found.filter(pl.col("kind") == LAST).join(samples, on=_KEY, how="anti")
        begun = numbered.join(samples, on="seq", how="anti").unique("seq", keep="first")
        whole = pl.concat(
            [samples, ends.select("position", *_KEY, "done"), begun.select("position", "seq", *_KEY)], how="diagonal"
        )
        by_key = keyed.group_by(_KEY).agg(
            first=pl.col("done").min(), told=pl.len(), at=pl.col("position").min()
        )  # fmt: skip
        by_seq = numbered.group_by("seq").agg(numbered=pl.col("done").min())
        whole = (
            whole.with_columns(alike=pl.struct(_KEY).is_duplicated())
            .join(by_key, on=_KEY, how="full", coalesce=True)
            .join(by_seq, on="seq", how="left")
        )
        unclear = (pl.col("told") > 1) | pl.col("alike").fill_null(value=False)
        lost = whole.filter(unclear).unique(_KEY)["told"].sum()
        return whole.select(
            "seq",
            *_KEY,
            "done",
            first=pl.coalesce("numbered", pl.when(~unclear.fill_null(value=False)).then("first")),
            position=pl.coalesce("position", "at"),
        ).sort("position"), int(lost or 0)
