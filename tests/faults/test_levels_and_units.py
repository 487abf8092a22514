"""Faults with percentiles and limits: above the maximum, averaged over parts, of a yes or no, in another unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from building import TOTAL, Line, engine_span, lines, rows, slo, span, store

if TYPE_CHECKING:
    from pathlib import Path


def lasting(*ms: float) -> list[Line]:
    return lines("\n".join(f"r{i} sent {i}\nr{i} done {i + value} outcome=ok" for i, value in enumerate(ms)))


@pytest.mark.parametrize(
    ("values", "ranks", "between"), [((1,), (1.0, 1.0), (1.0, 1.0)), ((1, 2), (2.0, 2.0), (1.95, 1.99))]
)
def test_no_percentile_of_a_small_sample_is_above_its_maximum(
    tmp_path: Path, values: tuple[int, ...], ranks: tuple[float, float], between: tuple[float, float]
) -> None:
    made = store(tmp_path, lasting(*values))
    found = rows(made, f"SELECT p95, p99 FROM percentile WHERE metric = 'e2e' AND population = 'ok' AND {TOTAL}")
    assert found == [ranks]
    # As load generators take them, between the two nearest values: p95 and p99 are two numbers.
    printed = rows(
        made,
        "SELECT value FROM as_printed WHERE tool = 'genai-bench' AND metric = 'e2e_latency' AND load_point = '(all)' AND statistic IN ('p95', 'p99') ORDER BY statistic",
    )
    assert [value for (value,) in printed] == pytest.approx(list(between), rel=1e-12)


def test_every_level_of_one_value_is_that_value(tmp_path: Path) -> None:
    made = store(tmp_path, lasting(575))
    for q in (0.01, 0.5, 0.99, 0.999, 1.0):
        assert rows(made, f"SELECT low, high FROM percentile_at('e2e', {q}) WHERE population = 'ok' AND {TOTAL}") == [
            (575.0, 575.0)
        ]


def test_the_percentile_of_two_workers_is_over_their_requests_and_no_mean_of_theirs(tmp_path: Path) -> None:
    def of(worker: str, count: int, ms: int) -> str:
        return "\n".join(
            f"{worker}{ms}-{i} sent {i} tenant={worker}\n{worker}{ms}-{i} done {i + ms} outcome=ok"
            for i in range(count)
        )

    made = store(tmp_path, lines("\n".join([of("a", 98, 10), of("a", 2, 1000), of("b", 900, 10)])))
    found = rows(
        made,
        "SELECT tenant, n, p99 FROM percentile WHERE metric = 'e2e' AND population = 'ok' AND input_bin = '(all)' AND output_bin = '(all)' AND window_start = '(all)' AND (tenant <> '(all)' OR load_point = '(all)') ORDER BY tenant",
    )
    assert found == [("(all)", 1000, 10.0), ("a", 100, 1000.0), ("b", 900, 10.0)]


def test_what_was_met_or_not_has_a_share_and_no_percentile(tmp_path: Path) -> None:
    made = store(tmp_path, lasting(100, 900, 900), slo=[slo("e2e", 500, name="met")])
    assert rows(made, f"SELECT good, share_low, share_high FROM attainment WHERE {TOTAL}") == [(1, 1 / 3, 1 / 3)]
    assert rows(made, "SELECT count(*) FROM percentile_at('met', 0.95)") == [(0,)]


def test_a_time_in_seconds_is_compared_with_a_limit_in_milliseconds(tmp_path: Path) -> None:
    told = [
        {"request": "a", "event": event, "side": "client", "clock": "c", "s": 1767225600 + s, **more}
        for event, s, more in (("sent", 0, {}), ("first_content", 1.5, {}), ("done", 2, {"outcome": "ok"}))
    ]
    engine = engine_span("11" * 16, 1, start=0, ttft=1500, queue=20, prefill=60, decode=30, tokens=5)
    said = {"name": "in seconds", "good": [{"metric": "ttft", "op": "<=", "s": 1}], "target": 0.95}
    promises = [slo("ttft", 1000, name="in ms"), said, slo("ttft_engine", 1000, name="engine")]
    (tmp_path / "client").mkdir()
    (tmp_path / "engine").mkdir()
    client = store(tmp_path / "client", told, slo=promises)
    assert rows(client, "SELECT slo, state FROM request_slo WHERE slo <> 'engine' ORDER BY slo") == [
        ("in ms", "bad"),
        ("in seconds", "bad"),
    ]
    server = store(tmp_path / "engine", spans=[engine], slo=promises)
    assert rows(server, "SELECT state FROM request_slo WHERE slo = 'engine'") == [("bad",)]


def test_seconds_under_one_key_and_milliseconds_under_another_are_one_time(tmp_path: Path) -> None:
    seconds = engine_span("1" * 32, 1, start=0, ttft=1200, queue=100, prefill=1000, decode=300, tokens=5)
    milliseconds = span(
        "2" * 32, 2, service="frontend", scope="dynamo", kind=2, name="http-request", start=0, end=1500,
        attributes={"ttft_ms": 1200, "x_request_id": "r-1", "uri": "/v1/chat/completions"},
    )  # fmt: skip
    made = store(tmp_path, spans=[seconds, milliseconds])
    found = rows(made, "SELECT ttft_engine_ms, ttft_gateway_ms FROM attempt_metric ORDER BY 1 NULLS LAST")
    assert found == [(1200.0, None), (None, 1200.0)]
