"""Percentiles, attainment and verdicts over worked populations: failures beside, never inside, never left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from building import TOTAL, lines, rows, slo, store

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.store import Store

INF = float("inf")


def answered(name: str, count: int, ms: float, *, start: int = 0, **facts: Any) -> str:
    told = " ".join(f"{key}={value}" for key, value in facts.items())
    return "\n".join(
        f"{name}{i} sent {start + i} {told}\n{name}{i} first_content {start + i + ms}\n{name}{i} done {start + i + ms + 1} outcome=ok"
        for i in range(count)
    )


def ended(name: str, count: int, outcome: str, after: float, *, start: int = 0) -> str:
    return "\n".join(
        f"{name}{i} sent {start + i}\n{name}{i} done {start + i + after} outcome={outcome}" for i in range(count)
    )


def total(made: Store, population: str, columns: str, metric: str = "ttft") -> tuple[Any, ...]:
    found = rows(
        made, f"SELECT {columns} FROM percentile WHERE metric = '{metric}' AND population = '{population}' AND {TOTAL}"
    )
    assert len(found) == 1
    return found[0]


def level(made: Store, population: str, q: float) -> tuple[Any, ...]:
    (found,) = rows(
        made, f"SELECT low, high FROM percentile_at('ttft', {q}) WHERE population = '{population}' AND {TOTAL}"
    )
    return found


@pytest.fixture
def fast_and_failing(tmp_path: Path) -> Store:
    """Service A: 20 answers after 0.2 s, 80 time-outs at 60 s."""
    return store(
        tmp_path, lines(answered("a", 20, 200) + "\n" + ended("t", 80, "timeout", 60000)), slo=[slo("ttft", 5000)]
    )


@pytest.fixture
def slow_and_sure(tmp_path: Path) -> Store:
    """Service B: 100 answers after 1 s."""
    return store(tmp_path, lines(answered("b", 100, 1000)), slo=[slo("ttft", 5000)])


def test_over_answers_alone_the_failing_service_looks_fast(fast_and_failing: Store) -> None:
    assert total(fast_and_failing, "ok", "n, failed, p95") == (20, 80, 200.0)


def test_over_answers_alone_the_sure_service_looks_slow(slow_and_sure: Store) -> None:
    assert total(slow_and_sure, "ok", "n, failed, p95") == (100, 0, 1000.0)


def test_attainment_of_the_failing_service_is_a_fifth(fast_and_failing: Store) -> None:
    found = rows(
        fast_and_failing, f"SELECT n, good, bad, share_low, share_high, ci_low, ci_high FROM attainment WHERE {TOTAL}"
    )
    assert found == [
        (
            100,
            20,
            80,
            0.2,
            0.2,
            pytest.approx(0.133366933331033, rel=1e-12),
            pytest.approx(0.288829165593159, rel=1e-12),
        )
    ]


def test_attainment_of_the_sure_service_is_whole(slow_and_sure: Store) -> None:
    found = rows(slow_and_sure, f"SELECT good, share_low, ci_low, ci_high FROM attainment WHERE {TOTAL}")
    assert found == [(100, 1.0, pytest.approx(0.963006501793014, rel=1e-12), 1.0)]


def test_over_all_the_failing_service_stops_at_its_plateau(fast_and_failing: Store) -> None:
    assert level(fast_and_failing, "all", 0.20) == (200.0, 200.0)
    for q in (0.21, 0.5, 0.95, 0.99, 1.0):
        assert level(fast_and_failing, "all", q) == (INF, INF)
    assert total(fast_and_failing, "all", "n, failed, p50, p95") == (100, 80, INF, INF)


def test_over_all_the_sure_service_has_its_p95(slow_and_sure: Store) -> None:
    assert total(slow_and_sure, "all", "n, failed, p95, p99") == (100, 0, 1000.0, 1000.0)


def test_the_failing_service_broke_its_promise_and_the_sure_one_kept_it(
    fast_and_failing: Store, tmp_path_factory: Any
) -> None:
    assert rows(fast_and_failing, "SELECT verdict FROM verdict") == [("broken",)]
    sure = store(tmp_path_factory.mktemp("b"), lines(answered("b", 100, 1000)), slo=[slo("ttft", 5000)])
    assert rows(sure, "SELECT verdict FROM verdict") == [("kept",)]


def test_one_failure_in_ten_leaves_p90_and_takes_p95(tmp_path: Path) -> None:
    made = store(tmp_path, lines(answered("a", 9, 100) + "\n" + ended("e", 1, "error", 5)))
    assert total(made, "all", "p90, p95") == (100.0, INF)


def test_p99_of_1_to_100_is_99(tmp_path: Path) -> None:
    made = store(
        tmp_path,
        lines("\n".join(f"r{i} sent 0\nr{i} first_content {i}\nr{i} done {i} outcome=ok" for i in range(1, 101))),
    )
    assert total(made, "ok", "p50, p95, p99, p999") == (50.0, 95.0, 99.0, 100.0)


def test_a_merged_percentile_is_taken_over_the_merged_values(tmp_path: Path) -> None:
    made = store(tmp_path, lines(answered("a", 1000, 10, tenant="A") + "\n" + answered("b", 10, 2000, tenant="B")))
    assert total(made, "ok", "n, p95, p99") == (1010, 10.0, 10.0)


def test_a_cancel_by_the_client_makes_attainment_an_interval(tmp_path: Path) -> None:
    text = "\n".join([answered("g", 121, 100), answered("s", 102, 900), ended("c", 17, "cancelled", 50)])
    made = store(tmp_path, lines(text), slo=[slo("ttft", 500)])
    found = rows(
        made,
        f"SELECT n, good, bad, undetermined, round(share_low, 4), round(share_high, 4) FROM attainment WHERE {TOTAL}",
    )
    assert found == [(240, 121, 102, 17, 0.5042, 0.575)]


def test_a_cancel_after_the_limit_is_simply_bad(tmp_path: Path) -> None:
    made = store(
        tmp_path, lines(answered("g", 1, 100) + "\n" + ended("c", 1, "cancelled", 501)), slo=[slo("ttft", 500)]
    )
    assert rows(made, f"SELECT good, bad, undetermined FROM attainment WHERE {TOTAL}") == [(1, 1, 0)]


@pytest.mark.parametrize(
    ("rule", "counts"),
    [("interval", (2, 1, 0, 1, 0)), ("bad", (2, 1, 1, 0, 0)), ("excluded", (1, 1, 0, 0, 1))],
)
def test_what_a_cancel_means_is_declared(tmp_path: Path, rule: str, counts: tuple[int, ...]) -> None:
    made = store(
        tmp_path, lines(answered("g", 1, 100) + "\n" + ended("c", 1, "cancelled", 50)),
        slo=[slo("ttft", 500)], failure_rules={"client_cancel": rule},
    )  # fmt: skip
    assert rows(made, f"SELECT n, good, bad, undetermined, not_applicable FROM attainment WHERE {TOTAL}") == [counts]


def test_cancelled_requests_make_a_percentile_an_interval(tmp_path: Path) -> None:
    made = store(tmp_path, lines(answered("a", 2, 100) + "\n" + ended("c", 2, "cancelled", 60)))
    # As if the two had come when they left: 60 60 100 100. As if they never had: 100 100 never never.
    assert total(made, "all", "n, undetermined, p50, p50_high, p95, p95_high") == (4, 2, 60.0, 100.0, 100.0, INF)
    assert total(made, "ok", "n, undetermined, p50, p50_high") == (2, 2, 100.0, 100.0)


def test_percentile_and_attainment_never_disagree(tmp_path: Path) -> None:
    text = "\n".join(
        [answered("a", 13, 100), answered("b", 4, 700), ended("t", 2, "timeout", 60000), ended("c", 1, "cancelled", 90)]
    )
    made = store(tmp_path, lines(text), slo=[slo("ttft", limit, name=f"p{limit}") for limit in (50, 95, 100, 699, 700)])
    for name, limit, low, high in rows(
        made,
        f"SELECT a.slo, s.limit_ms, share_low, share_high FROM attainment AS a JOIN slo AS s USING (run, slo) WHERE {TOTAL}",
    ):
        for q in (0.5, 0.65, 0.7, 0.85, 0.9, 0.95):
            best, worst = level(made, "all", q)
            assert (worst <= limit) == (low >= q - 1e-12), (name, q)
            assert (best <= limit) == (high >= q - 1e-12), (name, q)


@pytest.mark.parametrize(
    ("good", "target", "verdict"),
    [(59, 0.95, "kept"), (58, 0.95, "cannot tell"), (299, 0.99, "kept"), (298, 0.99, "cannot tell")],
)
def test_a_promise_needs_enough_requests_to_be_called_kept(
    tmp_path: Path, good: int, target: float, verdict: str
) -> None:
    made = store(tmp_path, lines(answered("a", good, 100)), slo=[slo("ttft", 500, target=target)])
    assert rows(made, "SELECT verdict FROM verdict") == [(verdict,)]


def test_missing_evidence_is_not_good_and_not_bad(tmp_path: Path) -> None:
    made = store(tmp_path, lines(answered("a", 3, 100) + "\nx sent 0\nx done 90 outcome=ok"), slo=[slo("ttft", 500)])
    assert rows(made, f"SELECT n, good, bad, unknown, share_low, share_high FROM attainment WHERE {TOTAL}") == [
        (4, 3, 0, 1, 0.75, 1.0)
    ]
    assert total(made, "all", "n, unknown, p50, p50_high, p95_high") == (4, 1, 100.0, 100.0, INF)


def test_an_answer_without_content_never_came(tmp_path: Path) -> None:
    made = store(
        tmp_path,
        lines(answered("a", 1, 100) + "\nx sent 0 streamed=true\nx done 90 outcome=ok output_tokens=0"),
        slo=[slo("ttft", 500)],
    )
    assert rows(made, "SELECT request_id, ttft_ms, ttft_why FROM attempt_metric WHERE request_id = 'x'") == [
        ("x", None, "no content came")
    ]
    assert rows(made, f"SELECT good, bad, unknown FROM attainment WHERE {TOTAL}") == [(1, 1, 0)]
    assert rows(made, "SELECT ok FROM ledger WHERE load_point = '(all)'") == [(2,)]


def test_one_output_token_has_no_time_per_output_token_and_is_counted(tmp_path: Path) -> None:
    made = store(
        tmp_path,
        lines("a sent 0\na first_content 10 tokens=1\na last_content 10 output_tokens=1\na done 11 outcome=ok"),
        slo=[slo("tpot", 50)],
    )
    assert rows(made, "SELECT tpot_ms, tpot_why FROM attempt_metric") == [(None, "no token after the first chunk")]
    assert rows(made, f"SELECT n, not_applicable, share_low, why FROM attainment WHERE {TOTAL}") == [
        (0, 1, None, "no request to which the promise applies")
    ]
    assert rows(made, "SELECT verdict, why FROM verdict") == [
        ("cannot tell", "no request to which the promise applies")
    ]


def test_failures_do_not_move_the_percentiles_of_answers(tmp_path: Path, tmp_path_factory: Any) -> None:
    alone = store(tmp_path, lines(answered("a", 30, 100)))
    beside = store(tmp_path_factory.mktemp("f"), lines(answered("a", 30, 100) + "\n" + ended("f", 7, "rejected", 1)))
    assert total(alone, "ok", "n, p50, p95, p99") == total(beside, "ok", "n, p50, p95, p99")
    assert total(beside, "ok", "failed") == (7,)
    assert total(beside, "all", "n, p95") == (37, INF)


def test_limits_are_inclusive(tmp_path: Path) -> None:
    made = store(tmp_path, lines(answered("a", 1, 500)), slo=[slo("ttft", 500)])
    assert rows(made, "SELECT state FROM request_slo") == [("good",)]


def test_all_conditions_of_a_promise_count_together(tmp_path: Path) -> None:
    joint = {
        "name": "both",
        "target": 0.5,
        "good": [{"metric": "ttft", "op": "<=", "ms": 150}, {"metric": "e2e", "op": "<=", "s": 0.2}],
    }
    text = "a sent 0\na first_content 100\na done 150 outcome=ok\nb sent 0\nb first_content 100\nb done 250 outcome=ok"
    made = store(tmp_path, lines(text), slo=[joint])
    assert rows(made, "SELECT request_id, state FROM request_slo ORDER BY request_id") == [("a", "good"), ("b", "bad")]
    assert rows(made, "SELECT conditions FROM verdict") == [("ttft <= 150 ms and e2e <= 200 ms",)]


def test_parts_sum_to_the_whole_with_missing_keys_apart(tmp_path: Path) -> None:
    text = "\n".join([answered("a", 2, 10, tenant="a"), answered("n", 3, 10), ended("b", 1, "error", 5)])
    made = store(tmp_path, lines(text))
    found = rows(
        made,
        "SELECT tenant, sum(requests) FROM outcome_count WHERE load_point <> '(all)' AND input_bin = '(all)' AND output_bin = '(all)' AND window_start = '(all)' GROUP BY tenant ORDER BY tenant",
    )
    assert found == [("(all)", 6), ("(none)", 4), ("a", 2)]


def test_a_window_is_half_open_and_a_request_is_in_one(tmp_path: Path) -> None:
    made = store(tmp_path, lines("a sent 59999\na done 60001 outcome=ok\nb sent 60000\nb done 60001 outcome=ok"))
    found = rows(
        made,
        "SELECT window_start, requests FROM outcome_count WHERE load_point <> '(all)' AND tenant = '(all)' AND input_bin = '(all)' AND output_bin = '(all)' AND window_start <> '(all)' ORDER BY 1",
    )
    assert found == [("2026-01-01T00:00:00Z", 1), ("2026-01-01T00:01:00Z", 1)]


def test_an_empty_population_has_no_percentile(tmp_path: Path) -> None:
    made = store(tmp_path, lines(ended("t", 3, "timeout", 100)), slo=[slo("ttft", 50)])
    assert rows(
        made,
        f"SELECT count(*) FROM percentile WHERE population = 'ok' AND metric = 'ttft' AND p50 IS NOT NULL AND {TOTAL}",
    ) == [(0,)]
    assert total(made, "all", "n, failed, p50") == (3, 3, INF)


def test_no_request_at_all_gives_empty_views_and_no_fault(tmp_path: Path) -> None:
    made = store(tmp_path, [{"event": "ready", "clock": "c", "side": "engine", "ns": "5"}], slo=[slo("ttft", 50)])
    assert rows(made, "FROM percentile") == []
    assert rows(made, "SELECT verdict, n FROM verdict") == [("cannot tell", 0)]


def test_38_answers_bound_no_upper_end_of_p95(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    made = store(tmp_path, lines(answered("a", 38, 100) + "\n" + answered("z", 34, 100, start=1000)))
    short = store(tmp_path_factory.mktemp("short"), lines(answered("a", 38, 100)))
    query = f"SELECT ci_low IS NOT NULL, ci_high IS NOT NULL FROM quantile WHERE metric = 'ttft' AND population = 'ok' AND q = 0.95 AND {TOTAL}"
    assert rows(short, query) == [(True, False)]
    assert rows(made, query) == [(True, True)]


def test_a_strange_end_before_start_is_counted_and_not_used(tmp_path: Path) -> None:
    made = store(tmp_path, lines("a sent 100\na first_content 50\na done 200 outcome=ok"))
    assert rows(made, "SELECT ttft_ms, ttft_why FROM attempt_metric") == [(None, "end before start")]
    assert rows(made, "SELECT subject, n FROM audit WHERE audit = 'out of order'") == [
        ("client first_content before sent", 1)
    ]
