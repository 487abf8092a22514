"""NVIDIA Triton's trace file (`--trace-config mode=triton`): a list of fragments, each with the number of its trace.

Times are of the server's steady clock; a request over HTTP arrives with its first byte, one over gRPC when it was read.
A trace is of a request, or of a model that another trace's model has called.

What the server writes of one trace stays in one file, also where `log-frequency` splits them, and numbers begin anew
with each server: so a number is a request's own in its file only. The id that a client may have chosen is kept as that
of the answer, which bears it; clients like to choose the same for all.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from analyzer.sources import exact, first_keys
from analyzer.sources.base import Frame, Frames
from analyzer.sources.documents import NO_OBJECT, Pieces
from analyzer.sources.opening import open_counted
from analyzer.sources.quoting import sql_text
from analyzer.sources.refusing import outline, refused
from analyzer.sources.request_rows import event_rows
from analyzer.sources.triton_traces import Fragment, Gathered, OddFragmentError, fragment, requests
from analyzer.vocabulary import ClockKind, Side

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import polars as pl

    from analyzer.sources.base import Options
    from analyzer.sources.documents import Piece

CLOCK = "triton"
_LIST = frozenset({()})
_AT_ONCE = 100_000
_NO_JSON = "not valid JSON"
_KINDS = {"timestamps", "model_version", "activity"}
_NUMBER = re.compile(rb'"id"\s*:\s*[0-9]')
_TOLD = re.compile(rb'"ns"\s*:\s*[0-9]|"model_version"\s*:\s*-?[0-9]|"activity"\s*:\s*"TENSOR_')
# Texts in it are written as they are, so that it may be no JSON; and nobody needs to look into it.
_TENSOR = re.compile(rb'\s*\{\s*"id"\s*:\s*([0-9]{1,18})\s*,\s*"activity"\s*:\s*"TENSOR_')
_HIDDEN = "not shown, as it may hold a tensor"
_BROKEN = "the rest of the file was not read, as texts in it may look like traces"
_SAMPLED = (
    "these are the requests that Triton's rate has chosen, by default 1 in 1000: the file does not say which it was,"
    " nor which requests failed once their model ran"
)


class _Triton:
    name = "triton"

    def sniff(self, head: bytes, path: Path) -> bool:  # noqa: ARG002 (content decides, not the name)
        """A list of objects that bear a trace's number and a time, a model's version, or a tensor."""
        keys = first_keys.of_list(head)
        return "id" in keys and bool(keys & _KINDS and _NUMBER.search(head) and _TOLD.search(head))

    def read(self, path: Path, options: Options) -> Iterator[Frames]:
        """Rows of `event`, the engine's side of each request, all at the end, as fragments lie apart."""
        yield Frames(tool=self.name)
        gathered = Gathered()
        yield from self.fragments(path, options, gathered)
        traces = gathered.traces()
        rows = requests(traces)
        told = rows.filter("told")
        for part in told.iter_slices(_AT_ONCE):
            yield Frames((Frame("event", part.to_arrow(), event_rows(_rows(options), options)),), records=len(part))
        without = [
            (f"trace {trace}", "it tells no time of a request's course", f"trace {trace}")
            for (trace,) in rows.filter(~rows["told"]).select("trace").rows()
        ]
        parts = len(traces) - len(rows)
        yield Frames(
            refused(options.label, without), records=len(without) + parts, set_aside=parts,
            dropped=gathered.tensors, notes=tuple(_notes(told, parts, gathered.tensors)),
        )  # fmt: skip

    def fragments(self, path: Path, options: Options, gathered: Gathered) -> Iterator[Frames]:
        """What the file's fragments say goes to `gathered`; those that say nothing are refused."""
        bad: list[tuple[str, str, str]] = []
        stream, counted = open_counted(path)
        with stream:
            for position, piece in enumerate(Pieces(stream, _LIST, options.max_document_bytes, options.max_depth), 1):
                broken = (piece.fault or "").startswith(_NO_JSON)
                if piece.ends and piece.seen:
                    continue
                try:
                    gathered.take(position, _fragment(piece))
                except OddFragmentError as fault:
                    reason = f"{fault}; {_BROKEN}" if broken else str(fault)
                    bad.append((piece.place, reason, _shown(piece)))
                if broken:
                    break
                if position % _AT_ONCE == 0:
                    yield _refusals(options, bad, counted())
                    bad = []
        yield _refusals(options, bad, path.stat().st_size)


def _refusals(options: Options, bad: list[tuple[str, str, str]], bytes_read: int) -> Frames:
    return Frames(refused(options.label, bad), records=len(bad), bytes_read=bytes_read)


def _fragment(piece: Piece) -> Fragment:
    """What a piece of the list says. OddFragmentError when it is no fragment."""
    if piece.ends:
        raise OddFragmentError("not a list of a trace's fragments")
    if piece.fault:
        raise OddFragmentError(piece.fault)
    if tensor := _TENSOR.match(piece.body):
        return Fragment(int(tensor[1]), tensors=1)
    try:
        row = exact.loaded(piece.body)
    except (ValueError, RecursionError):
        raise OddFragmentError(_NO_JSON) from None
    if not isinstance(row, dict):
        raise OddFragmentError(NO_OBJECT)
    return fragment(row)


def _shown(piece: Piece) -> str:
    """A fragment without what it says; nothing of one that is no JSON, or may hold a tensor, numbers and all."""
    try:
        row = exact.loaded(piece.body)
    except (ValueError, RecursionError):
        return _HIDDEN
    listed = isinstance(row, dict) and not row.keys() & {"tensor", "activity"}
    return outline(piece.body) if listed else _HIDDEN


def _rows(options: Options) -> str:
    """Request rows in the words of the event table."""
    return f"""
SELECT * EXCLUDE (trace, told, unsent, idle), {sql_text(options.label + "#")} || trace AS request,
  '{CLOCK}' AS clock, '{ClockKind.MONOTONIC}' AS clock_kind, '{Side.ENGINE}' AS side
FROM input"""


def _notes(rows: pl.DataFrame, parts: int, tensors: int) -> Iterator[str]:
    yield _SAMPLED
    if parts:
        yield f"{parts} traces are of models that other requests called, and parts of those: set aside"
    if tensors:
        yield f"{tensors} tensors, which hold what was asked and answered, were left out"
    if unsent := int(rows["unsent"].sum()):
        yield (
            f"{unsent} requests ended and nothing tells that an answer was sent, as when the client has left: how they"
            " ended is not recorded"
        )
    if idle := int(rows["idle"].sum()):
        yield (
            f"{idle} requests were answered and no model ran (refused, timed out in the queue, or from the response"
            " cache): how they ended is not recorded"
        )


SOURCE = _Triton()
