"""What an attempt held and gave back, how long it was worked on, whether its stream kept up, and what failures are put down to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from building import lines, rows, store

from analyzer.errors import UsageFault
from analyzer.store import Store, rules

if TYPE_CHECKING:
    from pathlib import Path

PREEMPTED = """
a arrived 0 side=engine
a started 10 side=engine
a preempted 30 side=engine
a resumed 50 side=engine
a preempted 60 side=engine
a resumed 65 side=engine
a first_token 70 side=engine
a last_token 110 side=engine
a done 112 side=engine outcome=ok output_tokens=5
"""


def test_service_is_the_sum_of_the_scheduled_intervals_and_the_rest_of_the_response_is_waiting(tmp_path: Path) -> None:
    made = store(tmp_path, lines(PREEMPTED))
    query = "SELECT preemptions, preempted_ms, service_ms, response_ms, waiting_ms FROM service_time"
    assert rows(made, query) == [(2, 25.0, 75.0, 112.0, 37.0)]


def test_what_was_taken_off_and_never_put_back_was_worked_on_until_then(tmp_path: Path) -> None:
    told = "a arrived 0 side=engine\na started 10 side=engine\na preempted 30 side=engine\na done 90 side=engine outcome=error"
    made = store(tmp_path, lines(told))
    assert rows(made, "SELECT preempted_ms, service_ms, waiting_ms FROM service_time") == [(60.0, 20.0, 70.0)]


def stream(received: float, engine: str = "e") -> str:
    return f"""a sent 0
a first_content 110
a last_content {110 + received}
a done {120 + received} outcome=ok
a arrived 1 side=engine clock={engine}
a first_token 100 side=engine clock={engine}
a last_token 1100 side=engine clock={engine}
a done 1101 side=engine clock={engine} outcome=ok"""


@pytest.mark.parametrize(
    ("received", "growth", "slope", "warned"), [(1400.0, 400.0, 400.0, 1), (1020.0, 20.0, 20.0, 0)]
)
def test_a_lag_that_grows_within_a_stream_has_a_slope_whatever_the_clocks(
    received: float, growth: float, slope: float, warned: int, tmp_path: Path
) -> None:
    made = store(tmp_path, lines(stream(received)))
    assert rows(made, "SELECT growth_ms, slope_ms_per_s, first_lag_ms FROM delivery_lag") == [(growth, slope, None)]
    assert len(rows(made, "SELECT * FROM audit WHERE audit = 'delivery falls behind'")) == warned


def test_on_one_clock_the_lag_is_known_at_both_ends(tmp_path: Path) -> None:
    made = store(tmp_path, lines(stream(1400, "c")))
    assert rows(made, "SELECT first_lag_ms, last_lag_ms FROM delivery_lag") == [(10.0, 410.0)]


HELD = """
ok arrived 0 side=gateway
ok done 99 side=gateway outcome=ok
ok admitted 1 side=engine
ok arrived 1 side=engine
ok started 2 side=engine
ok done 98 side=engine outcome=ok
gone arrived 0 side=gateway
gone cancel_seen 50 side=gateway
gone arrived 1 side=engine
gone admitted 1 side=engine
gone started 2 side=engine
gone done 90 side=engine outcome=cancelled
stuck arrived 0 side=gateway
stuck arrived 1 side=engine
stuck admitted 1 side=engine
"""


def test_every_state_has_an_owner_and_a_release_event_or_is_listed(tmp_path: Path) -> None:
    made = store(tmp_path, lines(HELD))
    assert rows(made, "SELECT request_id, state, owner, released_by, finding FROM state_ledger ORDER BY 1, 2") == [
        ("gone", "kv", "worker", None, "closed, release not acknowledged"),
        ("gone", "queue entry", "scheduler", "dispatched", "released"),
        ("gone", "stream", "gateway", "disconnect seen", "released"),
        ("ok", "kv", "worker", "finished", "released"),
        ("ok", "queue entry", "scheduler", "dispatched", "released"),
        ("ok", "stream", "gateway", "done", "released"),
        ("stuck", "queue entry", "scheduler", None, "open"),
        ("stuck", "stream", "gateway", None, "open"),
    ]
    assert rows(made, "SELECT subject, severity, n FROM audit WHERE audit = 'state without release' ORDER BY 1") == [
        ("kv of the worker", "note", 1),
        ("queue entry of the scheduler", "warning", 1),
        ("stream of the gateway", "warning", 1),
    ]


FAILED = """
a sent 0
a done 1 outcome=rejected status_code=429
b sent 0
b done 1 outcome=error error_type=CudaOutOfMemoryError
c sent 0
c done 1 outcome=error status_code=502
d sent 0
d done 1 outcome=error status_code=400
e sent 0
e done 1 outcome=cancelled
f sent 0
f done 1 outcome=timeout
g sent 0
g done 1 outcome=error error_type=WeightChecksumError
h sent 0
h done 1 outcome=error error_type=RetrievalError status_code=500
i sent 0
i done 1 outcome=ok
"""
CLASSES = "SELECT request_id, failure_class FROM attempt ORDER BY 1"
BUILT_IN = [
    ("a", "overload"), ("b", "resource_exhaustion"), ("c", "dependency"), ("d", "client"), ("e", "client"), ("f", "unknown"),
    ("g", "bad_revision"), ("h", "unknown"), ("i", None),
]  # fmt: skip


def test_each_failure_has_the_class_of_the_first_rule_that_fits_and_what_none_fits_is_unknown(tmp_path: Path) -> None:
    made = store(tmp_path, lines(FAILED))
    assert rows(made, CLASSES) == BUILT_IN
    query = "SELECT failure_class, attempts, requests, first_action FROM failure_class_count WHERE load_point = '(all)' AND failure_class IN ('overload', 'unknown') ORDER BY 1"
    assert rows(made, query) == [
        ("overload", 1, 1, "shed load, reduce admission"),
        ("unknown", 2, 2, "find evidence first: a rule of failures, or a source that tells more"),
    ]
    assert rows(made, "SELECT sum(requests) FROM failure_class_count WHERE load_point = '(all)'") == [(8,)]


OURS = """
[[failure]]
name = "the vector store"
class = "dependency"
error = ["*retrieval*"]
status = ["500-599"]
"""


def test_a_rule_of_a_users_own_comes_first_and_goes_away_with_its_file(tmp_path: Path) -> None:
    made = store(tmp_path, lines(FAILED))
    made.use_rules([("ours.toml", OURS)])
    made.derive()
    assert rows(made, CLASSES)[7] == ("h", "dependency")
    assert rows(made, "SELECT DISTINCT name FROM failure_rule WHERE origin = 'ours.toml'") == [("the vector store",)]
    made.use_rules([])
    made.derive()
    assert rows(made, CLASSES) == BUILT_IN


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("failure = 3", "failure must be written as"),
        ("[[failure]]\nclass = 'client'", "a failure has no name"),
        (
            "[[failure]]\nname = 'x'\nclass = 'bad luck'\nstatus = 500",
            "failure 'x', class is 'bad luck', which is none of overload",
        ),
        ("[[failure]]\nname = 'x'\nclass = 'client'", "failure 'x' fits every failure"),
        ("[[failure]]\nname = 'x'\nclass = 'client'\nstatus = ['5xx']", "failure 'x', status is '5xx': write a status"),
        (
            "[[failure]]\nname = 'x'\nclass = 'client'\noutcome = 'lost'",
            "failure 'x', outcome is 'lost', which is none of rejected",
        ),
        ("[[failure]]\nname = 'x'\nclass = 'client'\nwhen = 1", "failure 'x' has the unknown key when"),
        ("", "holds no [[rule]] and no [[failure]]"),
    ],
)
def test_a_wrong_rule_of_failures_is_refused_with_a_sentence(text: str, said: str) -> None:
    with pytest.raises(UsageFault) as refused:
        rules.parse(text, "ours.toml")
    assert said in str(refused.value)


def test_a_canary_that_does_worse_than_what_it_stands_beside_is_a_fault(tmp_path: Path) -> None:
    told = "\n".join(
        f"r{i} sent {i} revision={'new' if i % 5 == 0 else 'old'}\nr{i} done {i + 1} outcome={'error' if i % 10 == 0 else 'ok'}"
        for i in range(100)
    )
    made = store(tmp_path, lines(told))
    assert rows(made, "SELECT revision, n, good, other_n, other_good, finding FROM revision_delta ORDER BY 1") == [
        ("new", 20, 10, 80, 80, "worse"),
        ("old", 80, 80, 20, 10, "better"),
    ]
    assert rows(made, "SELECT subject, severity, n FROM audit WHERE audit = 'bad revision'") == [("new", "fault", 10)]


def test_two_failures_of_a_canary_of_three_are_not_enough(tmp_path: Path) -> None:
    told = "\n".join(
        f"r{i} sent {i} revision={'new' if i < 3 else 'old'}\nr{i} done {i + 1} outcome={'error' if i in (0, 9) else 'ok'}"
        for i in range(12)
    )
    made: Store = store(tmp_path, lines(told))
    assert rows(made, "SELECT DISTINCT finding FROM revision_delta") == [("cannot tell",)]
