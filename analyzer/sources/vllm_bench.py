"""What `vllm bench serve --save-result --save-detailed` saves: lists side by side, seconds of a clock without a date.

Known forms: the scripts before it, 0.9 to 0.32. Since 0.15 start_times tell when a request was sent, since 0.32
latencies and queue_times stand beside them, and since 0.20 or so input lengths are the server's where it counts them.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from analyzer.sources.base import Frames
from analyzer.sources.bench_lists import Lists, OddRowError, OddRunError, message_times, ns, number
from analyzer.sources.bench_runs import Batches, Document, each_run, holds, keys
from analyzer.sources.bench_summary import Points, counts, load_point, statistics
from analyzer.sources.client_failures import NO_CONTENT, Failure, failure
from analyzer.sources.request_rows import RequestRows
from analyzer.sources.tool_figures import figures
from analyzer.vocabulary import ClockKind, Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from analyzer.sources.base import Options
    from analyzer.sources.request_rows import Chunk

TOOL = "vLLM bench"
_OWN_KEYS = {b"backend", b"model_id", b"num_prompts", b"request_throughput"}
_LISTS = (
    "input_lens", "output_lens", "ttfts", "itls", "latencies", "start_times", "queue_times", "generated_texts",
    "errors",
)  # fmt: skip
_METRICS = ("ttft", "tpot", "itl", "e2el", "client_queue_time", "e2el_including_client_queue")
_COUNTS = {
    "completed": "requests", "failed": "requests", "total_input_tokens": "tokens", "total_output_tokens": "tokens",
    "request_throughput": "requests/s", "request_goodput": "requests/s", "request_goodput:": "requests/s",
    "output_throughput": "tokens/s", "total_token_throughput": "tokens/s", "max_output_tokens_per_s": "tokens/s",
    "max_concurrent_requests": "requests",
    "spec_decode_acceptance_rate": "%", "spec_decode_acceptance_length": "tokens",
}  # fmt: skip
_WITHOUT_ROWS = "it holds the summary of vllm bench serve without its requests: --save-detailed saves them"


class _Run:
    """One run on its way into rows."""

    def __init__(self, run: dict[str, Any], points: Points) -> None:
        self.run = run
        self.lists = Lists(run, _LISTS)
        if "errors" not in self.lists or not ("ttfts" in self.lists or "latencies" in self.lists):
            raise OddRunError(_WITHOUT_ROWS)
        self.point = points.name(_point(run))
        model = run.get("model_id")
        self.same = {"load_point": self.point, "model": model if isinstance(model, str) else None}
        # The API of chat begins its answer with a message of the role alone; that of completions does not.
        self.chat = "openai-chat" in (run.get("endpoint_type"), run.get("backend"))
        self.streamed = "ttfts" in self.lists
        self.open_loop = number(run.get("request_rate")) is not None or bool(run.get("ramp_up_strategy"))
        self.server_counts_input = "queue_times" in self.lists
        # Without a tokenizer 1 stands for an answer whose tokens nobody counted.
        self.one_is_unknown = "tokenizer_id" in run and run["tokenizer_id"] is None
        self.ok = self.ended = self.scheduled = self.silent = self.uncounted = self.role_messages = 0
        self.input_tokens = self.output_tokens = 0

    def ending(self, i: int, ttft: Decimal | None) -> Failure | None:
        """How request i failed; None when it did not."""
        if error := self.lists.text("errors", i):
            return failure(error, begun=ttft is not None)
        if self.streamed and ttft is None and not self.answered(i):
            # Before 0.32 an answer of which no message was understood counted as a success.
            self.silent += 1
            return NO_CONTENT
        return None

    def answered(self, i: int) -> bool:
        """Whether an answer came of which no time is known, as from a server that does not stream."""
        if "generated_texts" in self.lists:
            return bool(self.lists.text("generated_texts", i))
        return bool(self.lists.count("output_lens", i))

    def add(self, i: int, rows: RequestRows) -> int:
        """Request i as a row, and how many messages it had."""
        ttft = self.lists.time("ttfts", i) if self.streamed else None
        started, queued = self.lists.time("start_times", i), self.lists.time("queue_times", i)
        latency = self.lists.time("latencies", i)
        failed = self.ending(i, ttft)
        sent = started or Decimal(0)
        messages = message_times(sent + ttft, self.lists.gaps("itls", i)) if ttft is not None else []
        facts = self.facts(i, failed, len(messages))
        facts["clock_kind"] = ClockKind.DURATION if started is None else ClockKind.MONOTONIC
        chunks = self.chunks(messages, empty=failed is None and facts["output_tokens"] == 0)
        content = [time for time, kind, _ in chunks if kind is None]
        times = {"sent": ns(sent)}
        if started is not None and queued is not None and self.open_loop and queued <= started:
            # Its queue begins when the generator, after waiting for the time drawn, lets the request go.
            times["scheduled"] = ns(started - queued)
            self.scheduled += 1
        if content:
            times |= {"first_content": content[0], "last_content": content[-1]}
        # The tool takes a request for ended with the last message of its stream, or with the answer.
        end = sent + latency if latency is not None else messages[-1] if messages else None
        if failed is None and end is not None:
            times["done"] = ns(end)
            self.ended += self.streamed
        rows.add(times, facts, chunks)
        self.sum(i, failed, chunks)
        return len(messages)

    def chunks(self, messages: list[Decimal], *, empty: bool) -> list[Chunk]:
        """The messages with what is known of each: no content where the answer has none, or in the role's message."""
        kinds: list[str | None] = ["finish" if empty else None] * len(messages)
        if self.chat and kinds:
            kinds[0] = "role"
        return [(ns(time), kind, None) for time, kind in zip(messages, kinds, strict=True)]

    def facts(self, i: int, failed: Failure | None, messages: int) -> dict[str, Any]:
        """What is known of request i besides its times; lengths of a failed one are none."""
        given = self.lists.count("input_lens", i)
        made = self.lists.count("output_lens", i) if failed is None and self.streamed else None
        if made == 1 and self.one_is_unknown and messages > 2:  # noqa: PLR2004 (role and finish hold no token)
            made, self.uncounted = None, self.uncounted + 1
        told = failed is None and self.server_counts_input
        return self.same | {
            "outcome": failed.outcome if failed else Outcome.OK,
            "error_type": failed.error_type if failed else None,
            "status_code": failed.status_code if failed else None,
            "streamed": self.streamed,
            "input_tokens": given if told else None,
            "retokenized_input_tokens": None if told else given,
            "output_tokens": made,
        }

    def sum(self, i: int, failed: Failure | None, chunks: list[Chunk]) -> None:
        """Keep count for what is to be said of the run."""
        self.role_messages += any(kind == "role" for _, kind, _ in chunks)
        if failed is None:
            self.ok += 1
            self.input_tokens += self.lists.count("input_lens", i) or 0
            self.output_tokens += self.lists.count("output_lens", i) or 0

    def notes(self) -> Iterator[str]:
        """What a reader of the numbers must know, one sentence each."""
        if self.ended:
            yield (
                f"{self.ended} ends are the last message with choices, which the tool takes for the end:"
                " that of the stream is not recorded"
            )
        if self.scheduled:
            yield (
                f"{self.scheduled} requests count as scheduled when the generator let them go:"
                " how late that was is not recorded"
            )
        if self.role_messages:
            yield (
                f"the first messages of {self.role_messages} chat streams are taken for the empty role message:"
                " the file does not tell them apart"
            )
        if self.streamed and not self.server_counts_input and "start_times" in self.lists:
            yield "its input lengths are the tool's own count, or since about 0.20 the server's: taken for the former"
        if self.silent:
            yield (
                f"{self.silent} requests without any message and without an error are errors here;"
                " the tool counts them as completed"
            )
        if self.uncounted:
            yield f"{self.uncounted} output lengths of 1 stand for answers that nobody counted, and are left out"
        yield from self.differences()

    def differences(self) -> Iterator[str]:
        """Where the summary is not what its requests give."""
        stated = {key: number(self.run.get(key)) for key in (*_COUNTS, "num_prompts", "max_concurrency")}
        if (accepted := stated["spec_decode_acceptance_length"]) and accepted > 1:
            yield (
                f"{self.point}: a step of the server accepts {accepted:.4g} tokens:"
                " the gaps between messages are no times between tokens"
            )
        cap, most = stated["max_concurrency"], stated["max_concurrent_requests"]
        if cap and most and most > cap:
            yield f"{self.point}: it states {most:.0f} requests at once with a limit of {cap:.0f}: it counts by seconds"
        given = {
            "num_prompts": self.lists.size, "completed": self.ok,
            "total_input_tokens": self.input_tokens, "total_output_tokens": self.output_tokens,
        }  # fmt: skip
        for key, own in given.items():
            if self.streamed and stated[key] not in (None, own):
                yield f"{self.point}: its {key} is {stated[key]:.0f} and its requests give {own}"


def _point(run: dict[str, Any]) -> str:
    strategy, cap = run.get("ramp_up_strategy"), run.get("max_concurrency")
    if isinstance(strategy, str):
        first, last = (number(run.get(f"ramp_up_{end}_rps")) or 0 for end in ("start", "end"))
        return load_point(f"{strategy[:20]} ramp {first:.4g} to {last:.4g}/s", cap)
    return load_point(run.get("request_rate"), cap)


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
    told = [*statistics(document.run, _METRICS, run.point), *counts(document.run, _COUNTS, run.point)]
    yield rows.flush(*figures(TOOL, None, told, options), notes=run.notes(), bytes_read=document.read)


class _VLLMBench:
    name = "vllm_bench"

    def sniff(self, head: bytes, path: Path) -> bool:
        """An object with the tool's own keys, and the lists of its requests."""
        return keys(head) >= _OWN_KEYS and (b'"input_lens"' in head or holds(path, "input_lens"))

    def explain(self, head: bytes, path: Path) -> str | None:
        """That a summary has no requests in it."""
        return _WITHOUT_ROWS if keys(head) >= _OWN_KEYS and not self.sniff(head, path) else None

    def read(self, path: Path, options: Options) -> Iterator[Frames]:
        """Rows of `event`, and the summary as `tool_figure`. SourceError when no run of the file can be read."""
        # Seconds since some moment of the client's host: two files may come from two hosts.
        rows = RequestRows(options, clock=f"{self.name} {options.label}")
        points = Points()
        yield Frames(tool="vllm bench serve")
        yield from each_run(path, options, rows, lambda found: _take(found, options, rows, points))


SOURCE = _VLLMBench()
