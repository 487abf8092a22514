"""The worked example of a first token: 8 + 220 + 90 + 5 ms, 128 tokens, 22 ms apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from building import TOTAL, lines, rows, slo, store

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.store import Store

# One clock sees every boundary; the client's send and the gateway's arrival fall together.
TRACE = """
a arrived 0 side=gateway
a sent 0 streamed=true
a admitted 8 side=gateway
a started 228 side=engine
a first_token 318 side=engine
a first_content 323 tokens=1
a last_token 3112 side=engine
a last_content 3117 output_tokens=128
a done 3120 outcome=ok
"""


@pytest.fixture
def made(tmp_path: Path) -> Store:
    return store(tmp_path, lines(TRACE), slo=[slo("ttft", 300)])


def test_the_stages_add_up_to_323_ms(made: Store) -> None:
    stages = rows(
        made,
        "SELECT stage, duration_ms FROM stage WHERE stage IN ('edge', 'queue', 'prefill', 'delivery') ORDER BY start_ns",
    )
    assert stages == [("edge", 8.0), ("queue", 220.0), ("prefill", 90.0), ("delivery", 5.0)]
    assert rows(made, "SELECT ttft_ms FROM attempt_metric") == [(323.0,)]
    assert rows(made, "SELECT low_ms, high_ms FROM stage WHERE stage = 'unattributed'") == [(0.0, 0.0)]


def test_the_budget_of_300_ms_is_missed_by_23(made: Store) -> None:
    assert rows(made, "SELECT m.ttft_ms - s.limit_ms FROM attempt_metric AS m, slo AS s") == [(23.0,)]
    assert rows(made, "SELECT state FROM request_slo") == [("bad",)]


def test_each_boundary_has_its_share_of_the_first_323_ms(made: Store) -> None:
    found = dict(rows(made, "SELECT stage, share_low FROM ttft_stage WHERE load_point = '(all)' AND tenant = '(all)'"))
    assert found == {
        "edge": pytest.approx(0.024767801857585, rel=1e-12),
        "queue": pytest.approx(0.681114551083591, rel=1e-12),
        "prefill": pytest.approx(0.278637770897833, rel=1e-12),
        "delivery": pytest.approx(0.015479876160991, rel=1e-12),
        "unattributed": 0.0,
    }


def test_128_tokens_have_127_gaps_of_22_ms(made: Store) -> None:
    assert rows(made, "SELECT tpot_ms, first_chunk FROM attempt_metric") == [(22.0, "known")]
    assert rows(made, "SELECT duration_ms FROM stage WHERE stage = 'decode'") == [(2794.0,)]
    assert rows(made, "SELECT (client_last_content_ns - client_sent_ns) / 1e6 FROM attempt") == [(3117.0,)]


def test_the_other_conventions_never_bear_the_name_tpot(made: Store) -> None:
    (tpot, tpot_engine, ntpot), *_ = rows(made, "SELECT tpot_ms, tpot_engine_ms, ntpot_ms FROM attempt_metric")
    assert ntpot == 24.3515625
    assert {tpot, tpot_engine}.isdisjoint({21.828125, 24.3515625})


def test_end_to_end_includes_the_terminal_event(made: Store) -> None:
    assert rows(made, "SELECT e2e_ms FROM attempt_metric") == [(3120.0,)]
    assert rows(made, "SELECT duration_ms FROM stage WHERE stage = 'terminal'") == [(3.0,)]


def test_overlapping_stages_count_once(tmp_path: Path) -> None:
    overlapping = """
        a arrived 0 side=gateway
        a sent 0
        a admitted 100 side=gateway
        a admitted 40 side=engine
        a started 60 side=engine
        a first_token 110 side=engine
        a first_content 120
        a done 200 outcome=ok
    """
    made = store(tmp_path, lines(overlapping))
    # edge 0-100, queue 40-60 inside it, prefill 60-110, delivery 110-120: the union is the whole 120 ms.
    assert rows(made, "SELECT sum(duration_ms) FROM stage WHERE stage IN ('edge', 'queue', 'prefill', 'delivery')") == [
        (180.0,)
    ]
    assert rows(made, "SELECT low_ms FROM stage WHERE stage = 'unattributed'") == [(0.0,)]


def test_mean_of_tpot_and_mean_of_gaps_differ_with_length(tmp_path: Path) -> None:
    two = """
        a sent 0
        a first_content 10 tokens=1
        a last_content 110 output_tokens=2
        a done 111 outcome=ok
        b sent 0
        b first_content 10 tokens=1
        b last_content 110 output_tokens=11
        b done 111 outcome=ok
    """
    made = store(tmp_path, lines(two))
    assert rows(made, "SELECT avg(tpot_ms) FROM attempt_metric") == [(55.0,)]


@pytest.mark.parametrize(("told", "tpot", "known"), [("tokens=4", 2.5, "known"), ("", 2.0, "assumed")])
def test_four_chunks_of_four_tokens(tmp_path: Path, told: str, tpot: float, known: str) -> None:
    chunks = f"""
        a sent 0
        a content 100 kind=text {told}
        a content 110 kind=text
        a content 120 kind=text
        a content 130 kind=text output_tokens=16
        a done 131 outcome=ok
    """
    made = store(tmp_path, lines(chunks))
    assert rows(made, "SELECT tpot_ms, first_chunk FROM attempt_metric") == [(tpot, known)]
    note = rows(
        made,
        f"SELECT note LIKE '%first chunk assumed 1 token%' FROM percentile WHERE metric = 'tpot' AND population = 'ok' AND {TOTAL}",
    )
    assert note == [(known == "assumed",)]


def test_reasoning_is_content_and_the_answer_has_a_time_of_its_own(tmp_path: Path) -> None:
    thinking = """
        a sent 0 streamed=true
        a content 1175 kind=reasoning
        a content 183581 kind=text
        a done 192851 outcome=ok output_tokens=13228 reasoning_tokens=12560
    """
    made = store(tmp_path, lines(thinking))
    assert rows(made, "SELECT ttft_ms, ttfa_ms FROM attempt_metric") == [(1175.0, 183581.0)]
    assert rows(made, "SELECT output_tokens FROM attempt") == [(13228,)]


def test_a_cancellation_is_released_after_25_ms(tmp_path: Path) -> None:
    chain = """
        a sent 0
        a cancel_seen 120 side=gateway
        a cancel_forwarded 125 side=gateway
        a dequeued 140 side=engine
        a released 145 side=engine
        a done 110 outcome=cancelled
    """
    made = store(tmp_path, lines(chain))
    assert rows(made, "SELECT release_lag_ms, release_lag_why FROM attempt_metric") == [(25.0, None)]


def test_no_release_is_not_a_release_lag_of_zero(tmp_path: Path) -> None:
    chain = """
        a sent 0
        a cancel_seen 120 side=gateway
        a done 110 outcome=cancelled
    """
    made = store(tmp_path, lines(chain))
    assert rows(made, "SELECT release_lag_ms, release_lag_why FROM attempt_metric") == [
        (None, "release not acknowledged")
    ]


def test_gaps_between_chunks_are_not_gaps_between_tokens_unless_each_is_one(tmp_path: Path) -> None:
    chunks = """
        a sent 0
        a content 100 kind=text tokens=4
        a content 110 kind=text tokens=4
        a content 120 kind=text tokens=4
        a content 130 kind=text tokens=4 output_tokens=16
        a done 131 outcome=ok
        b sent 0
        b content 10 kind=text tokens=1
        b content 110 kind=text tokens=1 output_tokens=2
        b done 111 outcome=ok
    """
    made = store(tmp_path, lines(chunks))
    assert rows(made, "SELECT kind, count(*), max(gap_ms) FROM inter_token GROUP BY kind ORDER BY kind") == [
        ("icl", 3, 10.0),
        ("itl", 1, 100.0),
    ]


def test_the_pooled_mean_of_gaps_weighs_long_answers_more(tmp_path: Path) -> None:
    short = "a sent 0\na content 10 tokens=1\na content 110 tokens=1 output_tokens=2\na done 111 outcome=ok"
    long = (
        "b sent 0\n"
        + "\n".join(f"b content {10 + 10 * i} tokens=1" for i in range(11))
        + "\nb done 120 outcome=ok output_tokens=11"
    )
    made = store(tmp_path, lines(short + "\n" + long))
    assert rows(made, "SELECT avg(gap_ms), count(*) FROM inter_token WHERE kind = 'itl'") == [
        (pytest.approx(200 / 11), 11)
    ]
    assert rows(made, "SELECT avg(tpot_ms) FROM attempt_metric") == [(55.0,)]
