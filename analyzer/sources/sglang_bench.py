"""What `sglang.bench_serving --output-details` saves: lists side by side, of durations only.

Known forms: up to 0.5.23. No list has a time of day or the end of a stream. An output length is the server's count
where the stream has one, and otherwise the length that was asked for.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from analyzer.sources.base import Frames
from analyzer.sources.bench_lists import Lists, OddRowError, OddRunError, message_times, ns, number, whole
from analyzer.sources.bench_runs import Batches, Document, each_run, holds, keys
from analyzer.sources.bench_summary import Points, counts, load_point, statistics
from analyzer.sources.client_failures import NO_CONTENT, Failure, failure
from analyzer.sources.request_rows import RequestRows
from analyzer.sources.tool_figures import Figure, figures
from analyzer.vocabulary import ClockKind, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator
    from decimal import Decimal
    from pathlib import Path

    from analyzer.sources.base import Options
    from analyzer.sources.request_rows import Chunk

TOOL = "SGLang bench"
_OWN_KEYS = {b"backend", b"dataset_name", b"random_range_ratio"}
_LISTS = ("input_lens", "output_lens", "ttfts", "itls", "generated_texts", "errors", "cached_tokens")
_METRICS = ("ttft", "tpot", "itl", "e2e_latency")
_COUNTS = {
    "completed": "requests", "total_input_tokens": "tokens", "total_output_tokens": "tokens",
    "total_output_tokens_retokenized": "tokens", "request_throughput": "requests/s", "request_goodput": "requests/s",
    "input_throughput": "tokens/s", "output_throughput": "tokens/s", "total_throughput": "tokens/s",
    "max_output_tokens_per_s": "tokens/s", "concurrency": "requests", "max_concurrent_requests": "requests",
    "accept_length": "tokens", "slo_attainment": "ratio",
}  # fmt: skip
_LIMITS = {"ttft": "limit ttft", "tpot": "limit tpot", "e2el": "limit e2e"}
# The engine's own API: the tool spreads the gap before a message over its tokens, one value each.
_NATIVE = ("sglang", "sglang-native")
# Backends of which the tool takes the length asked for as the length made.
_NOT_COUNTED = ("trt", "truss")
_CACHED = "cached_tokens"
_SAME_LENGTH = 1e-3
_TOO_LONG = 1.1
_WITHOUT_ROWS = "it holds the summary of sglang.bench_serving without its requests: --output-details saves them"


class _Run:
    """One run on its way into rows."""

    def __init__(self, run: dict[str, Any], points: Points) -> None:
        self.run = run
        self.lists = lists = Lists(run, _LISTS)
        if not all(name in lists for name in ("errors", "ttfts", "itls", "output_lens")):
            raise OddRunError(_WITHOUT_ROWS)
        self.point = points.name(load_point(run.get("request_rate"), run.get("max_concurrency")))
        info = run.get("server_info")
        model = (info.get("served_model_name") or info.get("model_path")) if isinstance(info, dict) else None
        self.same = {"load_point": self.point, "model": model if isinstance(model, str) else None}
        self.well = [i for i in range(lists.size) if not lists.text("errors", i)]
        self.measured = any(number(lists.at("ttfts", i)) for i in self.well)
        self.whole_answers = self._whole_answers()
        self.gaps_are_messages = run.get("backend") not in _NATIVE or not self._spread()
        self.server_counts_input = self._server_counts_input()
        self.ok = self.silent = self.unmeasured = self.uncounted = self.output_tokens = 0

    def _whole_answers(self) -> bool:
        """Whether answers came in one piece: no gap anywhere, and the first content is as late as the end."""
        first, end = (number(self.run.get(f"mean_{metric}_ms")) for metric in ("ttft", "e2e_latency"))
        if not first or not end or any(self.lists.at("itls", i) for i in self.well):
            return False
        return abs(end - first) <= _SAME_LENGTH * end

    def _spread(self) -> bool:
        """Whether some value stands twice in a row, as a gap does that was spread over the tokens of a message."""
        listed = (self.lists.at("itls", i) for i in self.well)
        return any(a == b for gaps in listed if isinstance(gaps, list) for a, b in pairwise(gaps))

    def _server_counts_input(self) -> bool | None:
        """Whether input lengths are the server's: their sum is then not the tool's own. None where it has none."""
        own = whole(self.run.get("total_input_tokens"))
        if not own:
            return None
        return sum(self.lists.count("input_lens", i) or 0 for i in self.well) != own

    def ending(self, i: int, ttft: Decimal | None) -> Failure | None:
        """How request i failed; None when it did not."""
        if error := self.lists.text("errors", i):
            return failure(error, begun=ttft is not None)
        if ttft is None and self.lists.count("output_lens", i):
            if self.measured:
                # Others of the run show content: here none came, and the length is the one that was asked for.
                self.silent += 1
                return NO_CONTENT
            self.unmeasured += 1
        return None

    def add(self, i: int, rows: RequestRows) -> int:
        """Request i as a row, and how many messages it had."""
        ttft = self.lists.time("ttfts", i)
        failed = self.ending(i, ttft)
        messages = message_times(ttft, self.lists.gaps("itls", i)) if ttft is not None else []
        times = {"sent": 0}
        chunks: list[Chunk] = []
        if messages and self.whole_answers:
            times["done"] = ns(messages[-1])
        elif messages:
            times |= {"first_content": ns(messages[0]), "last_content": ns(messages[-1])}
            chunks = [(ns(time), None, None) for time in messages if self.gaps_are_messages]
        facts = self.facts(i, failed, ttft)
        self.ok += failed is None
        self.output_tokens += facts["output_tokens"] or 0
        rows.add(times, facts, chunks)
        return len(messages)

    def facts(self, i: int, failed: Failure | None, ttft: Decimal | None) -> dict[str, Any]:
        """What is known of request i besides its times."""
        given, made = self.lists.count("input_lens", i), self.lists.count("output_lens", i)
        if failed is not None or (made and ttft is None):
            made = None
        elif self.run.get("backend") in _NOT_COUNTED:
            made, self.uncounted = None, self.uncounted + 1
        told = failed is None and self.server_counts_input
        own = (failed is not None) or self.server_counts_input is False
        return self.same | {
            "outcome": failed.outcome if failed else Outcome.OK,
            "error_type": failed.error_type if failed else None,
            "status_code": failed.status_code if failed else None,
            "streamed": not self.whole_answers,
            "input_tokens": given if told else None,
            "retokenized_input_tokens": given if own else None,
            "output_tokens": made,
            "cached_tokens": self.lists.count(_CACHED, i) if failed is None else None,
        }

    def figures(self) -> Iterator[Figure]:
        """The summary, and the limits that its goodput was told."""
        yield from statistics(self.run, _METRICS, self.point)
        yield from counts(self.run, _COUNTS, self.point)
        by_metric, limits = self.run.get("slo_attainment_by_metric"), self.run.get("goodput_slos_ms")
        for metric, limit in _LIMITS.items():
            if isinstance(limits, dict) and (value := number(limits.get(metric))) is not None:
                yield Figure(limit, "value", value, "ms", "setting", self.point)
            if isinstance(by_metric, dict) and (value := number(by_metric.get(metric))) is not None:
                yield Figure(f"slo_attainment_by_metric {metric}", "value", value, "ratio", "printed", self.point)

    def notes(self) -> Iterator[str]:
        """What a reader of the numbers must know, one sentence each."""
        if self.silent:
            yield (
                f"{self.point}: {self.silent} requests without content are errors here: the tool counts them as"
                " completed, with the output length that was asked for"
            )
        if self.unmeasured:
            yield (
                f"{self.point}: none of {self.unmeasured} requests shows any content, so that first content and gaps"
                " were not measured (the tool prints 0), and output lengths may be those that were asked for"
            )
        if self.uncounted:
            yield f"{self.point}: {self.uncounted} output lengths are those that were asked for, and are left out"
        if not self.gaps_are_messages:
            yield f"{self.point}: gaps were spread over the tokens of a message, so that messages are not told apart"
        yield from self.differences()

    def differences(self) -> Iterator[str]:
        """Where the summary is not what its requests give."""
        stated = {key: number(self.run.get(key)) for key in (*_COUNTS, "max_concurrency")}
        if (accepted := stated["accept_length"]) and accepted > 1:
            yield (
                f"{self.point}: a step of the server accepts {accepted:.4g} tokens:"
                " the gaps between messages are no times between tokens"
            )
        cap, most = stated["max_concurrency"], stated["max_concurrent_requests"]
        if cap and most and most > cap:
            yield f"{self.point}: it states {most:.0f} requests at once with a limit of {cap:.0f}: it counts by seconds"
        given = sum(self.lists.count("input_lens", i) or 0 for i in self.well)
        if self.server_counts_input:
            yield (
                f"{self.point}: its total_input_tokens, {stated['total_input_tokens']:.0f}, is the tool's own count;"
                f" its input lengths add up to {given}, the server's"
            )
        completed = stated["completed"]
        if completed is not None and completed != self.ok:
            yield f"{self.point}: its completed is {completed:.0f} and its requests give {self.ok}"
        own = stated["total_output_tokens_retokenized"]
        if own and self.output_tokens > _TOO_LONG * own:
            yield (
                f"{self.point}: its output lengths add up to {self.output_tokens} and its own count of the texts to"
                f" {own:.0f}: lengths may be those that were asked for, or texts not all of what was made"
            )


def _take(document: Document, options: Options, rows: RequestRows, points: Points) -> Iterator[Frames]:
    run = _Run(document.run, points)
    batches = Batches(rows, document.read)
    for i in range(run.lists.size):
        try:
            messages = run.add(i, rows)
        except OddRowError as odd:
            rows.refuse(f"{document.place}, request {i + 1}", str(odd), f"request {i + 1}")
            continue
        yield from batches.after(messages)
    yield rows.flush(*figures(TOOL, None, run.figures(), options), notes=run.notes(), bytes_read=document.read)


class _SGLangBench:
    name = "sglang_bench"

    def sniff(self, head: bytes, path: Path) -> bool:
        """An object with the tool's own keys, and the lists of its requests, which stand last."""
        return keys(head) >= _OWN_KEYS and holds(path, "itls")

    def explain(self, head: bytes, path: Path) -> str | None:
        """That a summary has no requests in it."""
        return _WITHOUT_ROWS if keys(head) >= _OWN_KEYS and not self.sniff(head, path) else None

    def read(self, path: Path, options: Options) -> Iterator[Frames]:
        """Rows of `event`, and the summary as `tool_figure`. SourceError when no run of the file can be read."""
        rows = RequestRows(options, clock=self.name, clock_kind=ClockKind.DURATION)
        points = Points()
        yield Frames(tool="sglang.bench_serving")
        yield from each_run(path, options, rows, lambda found: _take(found, options, rows, points))


SOURCE = _SGLangBench()
