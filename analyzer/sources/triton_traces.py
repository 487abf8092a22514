"""Requests from the fragments of Triton's traces: what a fragment says, put together by trace.

Whether a trace is a request or a part of one, and whether its model answered once or bit by bit, is known when its
last fragment has been read, wherever that stands. So one row of times is held per trace, whatever it has of fragments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from analyzer.sources import exact
from analyzer.vocabulary import Outcome

if TYPE_CHECKING:
    import polars as pl

NO_ID = "id is not the number of a trace"
NO_NS = "ns is not a whole number of nanoseconds that a clock can show"
NO_TIMES = "timestamps are not a list of names with ns"
NOTHING = "it tells neither a model nor a time nor a tensor"
_LATEST = 4 * 10**18
_AT_ONCE = 50_000
_ANSWER_AND_END = 2
# GRPC_WAITREAD_START is when the server began to wait for some request, which may be long before this one.
_FIRST = {
    "received": ("HTTP_RECV_START", "GRPC_WAITREAD_END"), "begun": ("REQUEST_START",), "queued": ("QUEUE_START",),
    "computed": ("COMPUTE_START",), "response": ("INFER_RESPONSE_COMPLETE",),
}  # fmt: skip
_LAST = {"sent": ("HTTP_SEND_END", "GRPC_SEND_END"), "ended": ("REQUEST_END",)}
_SENDS = ("HTTP_SEND_START", "GRPC_SEND_START")
_FACTS = ("model", "revision", "caller")


class OddFragmentError(ValueError):
    """A fragment that is none; the message says why."""


class Fragment(NamedTuple):
    """What a fragment says of its trace. `part`: another trace called it, `parent` is the number of that one."""

    trace: int
    times: tuple[tuple[str, int], ...] = ()
    model: str | None = None
    revision: str | None = None
    caller: str | None = None
    part: bool = False
    parent: int | None = None
    tensors: int = 0


def fragment(row: dict[str, Any]) -> Fragment:
    """An element of the list. OddFragmentError says why it is none; of tensors nothing is looked at."""
    trace = exact.count(row.get("id"))
    if trace is None:
        raise OddFragmentError(NO_ID)
    if not row.keys() & {"timestamps", "model_name", "activity", "tensor"}:
        raise OddFragmentError(NOTHING)
    version = exact.count(row.get("model_version"))
    return Fragment(
        trace,
        _times(row["timestamps"]) if "timestamps" in row else (),
        exact.word(row.get("model_name")),
        # A version below 0 is the one that the server chose.
        exact.word(row.get("model_version")) if version is None else str(version),
        exact.word(row.get("request_id")),
        row.get("parent_id") not in (None, 0),
        exact.count(row.get("parent_id")),
        int("tensor" in row),
    )


def _times(listed: Any) -> tuple[tuple[str, int], ...]:
    if not isinstance(listed, list):
        raise OddFragmentError(NO_TIMES)
    return tuple(map(_time, listed))


def _time(told: Any) -> tuple[str, int]:
    name = told.get("name") if isinstance(told, dict) else None
    if not isinstance(name, str):
        raise OddFragmentError(NO_TIMES)
    ns = exact.count(told.get("ns"))
    if ns is None or ns > _LATEST:
        raise OddFragmentError(NO_NS)
    return name, ns


class Gathered:
    """What the fragments of a file say, one row per trace as far as they have been put together."""

    def __init__(self) -> None:
        self.tensors = 0
        self.held = 0
        self._whole = 0
        self._pieces: list[pl.DataFrame] = []
        self._rows: list[tuple[Any, ...]] = []

    def take(self, position: int, told: Fragment) -> None:
        """Add a fragment, of which `position` is the place in the list."""
        self.tensors += told.tensors
        facts = (position, told.trace, told.part, told.parent, told.model, told.revision, told.caller)
        self._rows += [(*facts, name, ns) for name, ns in told.times or ((None, None),)]
        if len(self._rows) >= _AT_ONCE:
            self._fold()

    def _fold(self) -> None:
        import polars as pl

        schema = {
            "position": pl.Int64, "trace": pl.Int64, "part": pl.Boolean, "parent": pl.Int64,
            **dict.fromkeys((*_FACTS, "marker"), pl.String), "ns": pl.Int64,
        }  # fmt: skip
        piece = _together(_wide(pl.DataFrame(self._rows, schema=schema, orient="row")))
        self._rows = []
        self._pieces.append(piece)
        self.held += len(piece)
        # A trace in several pieces is put together when pieces have outgrown what they were the last time.
        if self.held > 2 * self._whole + _AT_ONCE:
            self._pieces = [_together(pl.concat(self._pieces))]
            self.held = self._whole = len(self._pieces[0])

    def traces(self) -> pl.DataFrame:
        """One row per trace in the order of the file."""
        import polars as pl

        self._fold()
        return _together(pl.concat(self._pieces))


def _wide(frame: pl.DataFrame) -> pl.DataFrame:
    """A row per marker, its time in the column of what it stands for."""
    import polars as pl

    marker = pl.col("marker")
    # The server writes 0 where a chunk of an answer was sent and nobody had looked at the clock.
    time = pl.when(pl.col("ns") > 0).then("ns")
    columns = {name: pl.when(marker.is_in(markers)).then(time) for name, markers in {**_FIRST, **_LAST}.items()}
    return frame.select(
        "position", "trace", "part", "parent", *_FACTS, **columns,
        responses=pl.concat_list(columns["response"]),
        sends=marker.is_in(_SENDS).fill_null(value=False).cast(pl.Int64),
        answered=marker.is_in(_LAST["sent"]).fill_null(value=False),
    )  # fmt: skip


def _together(frame: pl.DataFrame) -> pl.DataFrame:
    """A row per trace: what came first, what came last, how often it was sent, and the two latest responses."""
    import polars as pl

    return frame.group_by("trace", maintain_order=True).agg(
        pl.col("position", *_FIRST).min(),
        pl.col("parent", *_LAST).max(),
        pl.col("part", "answered").any(),
        pl.col(*_FACTS).drop_nulls().first(),
        pl.col("sends").sum(),
        pl.col("responses").explode().drop_nulls().unique().top_k(2),
    ).select(frame.columns)  # fmt: skip


def requests(traces: pl.DataFrame) -> pl.DataFrame:
    """Request rows from the traces that are no parts of others, with what is to be said of each.

    `told`: it has a boundary; `unsent`: nothing tells that an answer went out; `idle`: an answer without a model.
    """
    import polars as pl

    first, sends = pl.col("response"), pl.col("sends")
    last, before = pl.col("responses").list.max(), pl.col("responses").list.min()
    # The server records a call that only says that the answer was whole like a response, over gRPC the first alone, and
    # a client may ask for an empty message at the end: an answer and its end are two, and no first of several.
    several = (before > first) | (last > first) & (sends != 1) | (first > 0) & (sends > _ANSWER_AND_END)
    calls = traces.filter(pl.col("part"))["parent"].drop_nulls().unique().implode()
    end = pl.when(pl.col("ended").is_not_null()).then(pl.max_horizontal("ended", "response", last))
    found = traces.filter(~pl.col("part")).with_columns(
        several=several.fill_null(value=False),
        last=last,
        done=pl.coalesce("sent", end),
        away=pl.col("answered") | pl.col("received").is_null() & (pl.col("sends") == 0),
        # An ensemble runs by its parts.
        ran=pl.col("computed").is_not_null() | pl.col("trace").is_in(calls),
    )
    closed, away, ran = pl.col("done").is_not_null(), pl.col("away"), pl.col("ran") | pl.col("several")
    answer = pl.when("several")
    ok, unresolved = (pl.lit(str(outcome)) for outcome in (Outcome.OK, Outcome.UNRESOLVED))
    rows = found.select(
        "position", "trace", "model", "revision",
        response_id="caller",
        arrived_ns="received",
        admitted_ns=pl.coalesce("queued", "begun"),
        started_ns="computed",
        first_token_ns=answer.then("response"),
        last_token_ns=answer.then(pl.when(pl.col("last") > pl.col("response")).then("last")),
        done_ns="done",
        streamed=answer.then(pl.lit(value=True)),
        outcome=pl.when(closed & away & ran).then(ok).otherwise(unresolved),
        unsent=closed & ~away,
        idle=closed & away & ~ran,
    )  # fmt: skip
    boundaries = [name for name in rows.columns if name.endswith("_ns")]
    return rows.with_columns(told=pl.any_horizontal(pl.col(*boundaries).is_not_null()))
