"""What the sources of load generators share: numbers exactly, keys of a cut file, kinds of messages, and no two claims."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from analyzer.sources import HEAD_BYTES, exact, first_keys, known
from analyzer.sources.message_kinds import kind_of
from analyzer.sources.opening import head

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("1365.536503203", 1_365_536_503_203), ("0.0317882559997998", 31_788_256), ("1e-9", 1), ("4e-10", 0), ("12", 12_000_000_000),
        ("9e9", 9_000_000_000_000_000_000), ("1e10", None), ("1e999999999", None), ("-5", -5_000_000_000), ("1e-999999999", 0),
        ("true", None), ("null", None), ('"1.5"', None), ("1" * 400, None), ("NaN", None), ("Infinity", None),
    ],
)  # fmt: skip
def test_a_time_is_its_nanoseconds_or_none(written: str, expected: int | None) -> None:
    assert exact.nanoseconds(exact.loaded(written)) == expected


def test_what_takes_time_takes_more_than_none() -> None:
    assert [exact.measured(value) for value in (0, Decimal("0.0"), -1, Decimal("1e-9"), None)] == [
        None,
        None,
        None,
        1,
        None,
    ]
    assert exact.measured(Decimal("1.5"), exact.MILLISECOND) == 1_500_000


def test_a_number_that_no_decimal_can_be_is_no_json_of_ours() -> None:
    with pytest.raises(ValueError, match="out of range"):
        exact.loaded("1e9999999999999999999999")


def test_counts_statuses_and_words_are_within_bounds() -> None:
    assert [exact.count(v) for v in (0, 7, Decimal("7.0"), Decimal("7.5"), -1, True, 2**63, "7")] == [
        0,
        7,
        7,
        None,
        None,
        None,
        None,
        None,
    ]
    assert [exact.status(v) for v in (200, "429", 99, 600, "4290", "²", None)] == [
        200,
        429,
        None,
        None,
        None,
        None,
        None,
    ]
    assert [exact.word(v) for v in ("a", "", None, 3, "\ud800b", "x" * 300)] == ["a", None, None, None, "?b", "x" * 200]
    assert [exact.number(v) for v in ("150", 1, Decimal("1.5"), float("nan"), "x", True, 10**400)] == [
        150.0,
        1.0,
        1.5,
        None,
        None,
        None,
        None,
    ]


def test_keys_are_those_of_the_first_object_however_it_is_cut() -> None:
    whole = json.dumps(
        [{"a": {"inner": 1, "deep": [{"x": 1}]}, "b": 'q": {"no": "', "c": [1, {"d": 2}]}, {"later": 1}]
    ).encode()
    assert first_keys.of_list(whole) == {"a", "b", "c"}
    assert first_keys.of_object(whole) == frozenset()
    for size in range(len(whole)):
        assert first_keys.of_list(whole[:size]) <= {"a", "b", "c", "later"}
    assert first_keys.of_object(b'\x00\n {"a": 1, "b": "cut') == {"a", "b"}
    assert first_keys.of_list(b"[]") == first_keys.of_list(b"") == first_keys.of_object(b"[1]") == frozenset()


def test_keys_of_a_file_full_of_quotes_are_found_in_no_time() -> None:
    assert first_keys.of_object(b'{"a": "' + b'\\"' * 30_000) == {"a"}


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ({"choices": [{"delta": {"role": "assistant", "content": ""}}]}, "role"),
        ({"choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}]}, "text"),
        ({"choices": [{"text": "a"}]}, "text"), ({"choices": [{"text": "", "finish_reason": "length"}]}, "finish"),
        ({"choices": [{"delta": {"reasoning_content": "a"}}]}, "reasoning"), ({"choices": [{"delta": {"reasoning": "a"}}]}, "reasoning"),
        ({"choices": [{"delta": {"tool_calls": [{"index": 0}]}}]}, "tool"), ({"choices": [{"delta": {}}]}, "empty"),
        ({"choices": [], "usage": {"completion_tokens": 1}}, "usage"), ({"choices": []}, "empty"), ({"choices": [None]}, "empty"),
        ({"type": "message_start"}, "role"), ({"type": "message_stop"}, "finish"), ({"type": "ping"}, "empty"),
        ({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "a"}}, "text"),
        ({"type": "content_block_delta", "delta": {"type": "text_delta", "text": ""}}, "empty"),
        ({"type": "content_block_delta", "delta": {"type": "thinking_delta", "thinking": "a"}}, "reasoning"),
        ({"type": "content_block_delta", "delta": {"type": "input_json_delta", "partial_json": "{"}}, "tool"),
        ({"token": {"text": "a"}}, None), (None, None), ([1], None),
    ],
)  # fmt: skip
def test_a_message_is_of_one_kind_or_of_none_that_is_known(message: Any, kind: str | None) -> None:
    assert kind_of(message) == kind


@pytest.mark.shared
def test_each_file_of_the_shared_data_is_claimed_by_one_source_at_most(shared_data: Path) -> None:
    mine: dict[str, set[str]] = {"inference_perf": set(), "genai_bench": set(), "llmperf": set()}
    for path in sorted(shared_data.glob("*/*/**/*")):
        if path.is_file():
            start = head(path, HEAD_BYTES)
            claims = [name for name, source in known().items() if source.sniff(start, path)]
            assert len(claims) <= 1, path
            for name in set(claims) & mine.keys():
                mine[name].add(str(path.relative_to(shared_data)))
    assert mine["inference_perf"] == {"made/inference-perf/reports/per_request_lifecycle_metrics.json"}
    assert {name.rsplit("/", 1)[0] for name in mine["genai_bench"]} == {"made/genai-bench"}
    assert len(mine["genai_bench"]) == 2
    assert {name.rsplit("/", 1)[0] for name in mine["llmperf"]} == {
        "made/llmperf",
        "public/llmperf-leaderboard/individual",
    }
    assert len(mine["llmperf"]) == 4
