"""What a bounded server lets in, in which order it serves, and what a door without a gate looks like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from building import lines, rows, store

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.store import Store


def burst(slots: int = 8, queue: int = 16, offered: int = 64, each: float = 100) -> str:
    """Requests that all arrive at 0: equal jobs, served first come first."""
    told = []
    for i in range(offered):
        told.append(f"r{i:02} arrived {i / 1000} side=gateway")
        if i >= slots + queue:
            told += [
                f"r{i:02} rejected {i / 1000 + 0.5} side=gateway",
                f"r{i:02} done 1 side=gateway status_code=429 outcome=rejected",
            ]
            continue
        begins = i // slots * each + 1
        told += [
            f"r{i:02} admitted {i / 1000 + 0.5} side=engine", f"r{i:02} started {begins} side=engine",
            f"r{i:02} done {begins + each} side=engine outcome=ok", f"r{i:02} done {begins + each} side=gateway outcome=ok",
        ]  # fmt: skip
    return "\n".join(told)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return store(tmp_path_factory.mktemp("burst"), lines(burst()))


def test_eight_slots_and_sixteen_places_admit_24_of_64_and_refuse_40(made: Store) -> None:
    assert rows(made, "SELECT attempts, admitted, rejected, not_known FROM admission WHERE load_point = '(all)'") == [
        (64, 24, 40, 0)
    ]


def test_the_24_come_in_three_waves_of_8(made: Store) -> None:
    assert rows(made, "SELECT wave, n, slots, first_start_ms, last_end_ms FROM service_wave ORDER BY wave") == [
        (1, 8, 8, 0.0, 100.0),
        (2, 8, 8, 100.0, 200.0),
        (3, 8, 8, 200.0, 300.0),
    ]


def test_at_most_8_run_and_at_most_24_are_there(made: Store) -> None:
    query = "SELECT n, peak_in_flight, peak_working FROM occupancy WHERE side = 'engine'"
    assert rows(made, query) == [(24, 24, 8)]
    assert rows(made, "SELECT * FROM audit WHERE audit IN ('serialized', 'no overload gate')") == []


# A slot is a step: A runs two and leaves, B runs on beside it, C joins when A leaves.
STEPS = """
A arrived 0 side=engine
A started 0 side=engine
A first_token 100 side=engine
A last_token 200 side=engine
A done 200 side=engine outcome=ok output_tokens=2
B arrived 0 side=engine
B started 100 side=engine
B first_token 200 side=engine
B last_token 400 side=engine
B done 400 side=engine outcome=ok output_tokens=3
C arrived 0 side=engine
C started 200 side=engine
C first_token 300 side=engine
C last_token 400 side=engine
C done 400 side=engine outcome=ok output_tokens=2
"""


def test_three_requests_over_four_steps_share_two_places_and_none_waits_for_all_of_another(tmp_path: Path) -> None:
    made = store(tmp_path, lines(STEPS))
    assert rows(made, "SELECT peak_working, peak_in_flight FROM occupancy") == [(2, 3)]
    assert rows(made, "SELECT request_id, low_ms FROM stage JOIN attempt USING (attempt_id) WHERE stage = 'prefill' ORDER BY 1") == [
        ("A", 100.0), ("B", 100.0), ("C", 100.0),
    ]  # fmt: skip
    assert rows(made, "SELECT request_id, tpot_engine_ms FROM attempt_metric ORDER BY 1") == [
        ("A", 100.0),
        ("B", 100.0),
        ("C", 100.0),
    ]
    assert rows(made, "SELECT * FROM audit WHERE audit = 'serialized'") == []


def test_chunks_are_no_tokens_and_four_prompt_tokens_are_one_prefill(tmp_path: Path) -> None:
    told = """
a sent 0
a arrived 1 side=engine
a started 2 side=engine
a first_token 20 side=engine
a last_token 50 side=engine
a done 51 side=engine input_tokens=4 output_tokens=4
a content 31 tokens=2 kind=text
a content 52 tokens=2 kind=text
a done 53 outcome=ok
"""
    made = store(tmp_path, lines(told))
    assert rows(made, "SELECT input_tokens, output_tokens FROM attempt") == [(4, 4)]
    assert rows(made, "SELECT duration_ms FROM stage WHERE stage = 'prefill'") == [(18.0,)]
    assert rows(made, "SELECT ttft_ms, ttft_engine_ms, tpot_ms, tpot_engine_ms FROM attempt_metric") == [
        (31.0, 19.0, 10.5, 10.0)
    ]
    assert rows(made, "SELECT kind, gap_ms, tokens FROM inter_token") == [("icl", 21.0, 2)]


def one_after_the_other(side: str) -> str:
    begins, event = ("started", "engine") if side == "engine" else ("first_content", "client")
    entered = "arrived" if side == "engine" else "sent"
    return "\n".join(
        f"r{i} {entered} {i} side={event}\nr{i} {begins} {100 * i + 10} side={event}\nr{i} done {100 * i + 110} side={event} outcome=ok"
        for i in range(6)
    )


@pytest.mark.parametrize("side", ["engine", "client"])
def test_a_server_that_serves_one_at_a_time_is_said_to(side: str, tmp_path: Path) -> None:
    made = store(tmp_path, lines(one_after_the_other(side)))
    assert rows(made, "SELECT severity, n FROM audit WHERE audit = 'serialized'") == [("warning", 6)]


def test_timeouts_without_a_refusal_are_a_door_without_a_gate(tmp_path: Path) -> None:
    told = "\n".join(f"r{i} sent {i}\nr{i} done {5000 + i} outcome={'timeout' if i < 2 else 'ok'}" for i in range(20))
    folders = [tmp_path / "silent", tmp_path / "refusing"]
    for folder in folders:
        folder.mkdir()
    silent = store(folders[0], lines(told))
    assert rows(silent, "SELECT subject, n FROM audit WHERE audit = 'no overload gate'") == [("load point (none)", 2)]
    refusing = store(folders[1], lines(told + "\nx sent 30\nx done 31 outcome=rejected"))
    assert rows(refusing, "SELECT * FROM audit WHERE audit = 'no overload gate'") == []


def tries(*attempts: tuple[float, float, str], **facts: Any) -> str:
    said = "".join(f" {key}={value}" for key, value in facts.items())
    return "\n".join(
        f"a sent {sent} attempt={n}{said}\na done {end} attempt={n} outcome={outcome}"
        for n, (sent, end, outcome) in enumerate(attempts, 1)
    )


@pytest.mark.parametrize(
    ("told", "kinds", "backoff"),
    [
        (tries((0, 100, "timeout"), (150, 250, "ok")), ["first", "retry"], 50.0),
        (tries((0, 300, "ok"), (150, 250, "ok")), ["first", "hedge"], None),
        (tries((0, 100, "error")) + "\n" + "a sent 120 attempt=2 model=small\na done 200 attempt=2 outcome=ok", ["first", "retry"], 20.0),
    ],
    ids=["after it ended", "beside it", "no model of the first is known"],
)  # fmt: skip
def test_a_second_attempt_is_a_retry_after_the_first_and_a_hedge_beside_it(
    told: str, kinds: list[str], backoff: float | None, tmp_path: Path
) -> None:
    made = store(tmp_path, lines(told))
    found = rows(made, "SELECT kind, backoff_ms FROM attempt_kind ORDER BY attempt")
    assert [kind for kind, _ in found] == kinds
    assert found[1][1] == backoff


def test_another_model_is_a_fallback(tmp_path: Path) -> None:
    told = "a sent 0 model=big\na done 100 outcome=error\na sent 101 attempt=2 model=small\na done 200 attempt=2 outcome=ok"
    assert rows(store(tmp_path, lines(told)), "SELECT kind FROM attempt_kind ORDER BY attempt") == [
        ("first",),
        ("fallback",),
    ]


def test_a_retry_after_the_deadline_is_a_warning_with_how_late_it_was(tmp_path: Path) -> None:
    made = store(tmp_path, lines(tries((0, 100, "timeout"), (150, 250, "ok"), deadline_ms=120)))
    assert rows(made, "SELECT past_deadline_ms FROM attempt_kind ORDER BY attempt") == [(None,), (30.0,)]
    assert rows(made, "SELECT severity, n FROM audit WHERE audit = 'retry past the deadline'") == [("warning", 1)]


def test_retries_at_once_and_retries_after_one_pause_are_each_a_warning(tmp_path: Path) -> None:
    told = "\n".join(
        tries((i, 100.5 + i, "error"), (100.5 + i, 200 + i, "error"), (250 + i, 300 + i, "ok")).replace("a ", f"a{i} ")
        for i in range(5)
    )
    made = store(tmp_path, lines(told))
    assert rows(made, "SELECT audit, subject, n FROM audit WHERE audit LIKE 'retry without%' ORDER BY audit") == [
        ("retry without backoff", "after error", 5),
        ("retry without jitter", "attempt 3", 5),
    ]


def test_a_repetition_with_another_key_is_not_idempotent_and_one_with_the_same_key_is(tmp_path: Path) -> None:
    told = tries((0, 100, "timeout"), (150, 250, "ok"), idempotency_key="k1")
    other = "b sent 0 idempotency_key=k2\nb done 9 outcome=timeout\nb sent 30 attempt=2 idempotency_key=k3\nb done 90 attempt=2 outcome=ok"
    made = store(tmp_path, lines(told + "\n" + other))
    assert rows(made, "SELECT subject, detail LIKE '%r/b/2', n FROM audit WHERE audit = 'retry not idempotent'") == [
        ("retry", True, 1)
    ]


def test_more_attempts_than_the_manifest_allows_are_a_fault_of_the_request_and_of_the_whole(tmp_path: Path) -> None:
    told = tries((0, 100, "error"), (150, 250, "error"), (300, 400, "ok")) + "\nb sent 0\nb done 5 outcome=ok"
    made = store(tmp_path, lines(told), workload={"retry": {"max_attempts": 2, "budget_share": 0.5}})
    assert rows(made, "SELECT subject, severity, n FROM audit WHERE audit = 'retries over budget' ORDER BY 1") == [
        ("attempts of one request", "fault", 1),
        ("share of further attempts", "fault", 2),
    ]
