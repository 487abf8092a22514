"""Faults with spans: times of two kinds of clock, spans without an end, exported twice, with values that are none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from building import BASE_NS, TOTAL, Line, engine_span, rows, span, store
from reading import given
from rendering import Page, of_run

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.store import Store

T1, T2, T3 = "11" * 16, "22" * 16, "33" * 16
ROUTE = {"http.route": "/v1/chat/completions"}


def body(document: Line) -> dict[str, Any]:
    found: dict[str, Any] = document["resourceSpans"][0]["scopeSpans"][0]["spans"][0]
    return found


def gateway(trace: str, number: int = 1, *, start: float = 0, end: float = 200, **written: Any) -> Line:
    """A request that a gateway saw; `written` takes the place of what its span says."""
    document = span(trace, number, service="gw", scope="fastapi", kind=2, start=start, end=end, attributes=ROUTE)
    body(document).update(written)
    return document


def audited(made: Store, name: str) -> list[tuple[Any, ...]]:
    return rows(made, f"SELECT subject, n FROM audit WHERE audit = '{name}'")


def test_an_end_one_nanosecond_before_its_start_is_no_duration(tmp_path: Path) -> None:
    backwards = gateway(T1, startTimeUnixNano=str(BASE_NS + 1000), endTimeUnixNano=str(BASE_NS + 999))
    made = store(tmp_path, spans=[backwards, gateway(T2)])
    assert rows(made, "SELECT end_ns - start_ns, flag FROM span WHERE flag IS NOT NULL") == [(-1, "end before start")]
    assert audited(made, "out of order") == [("span end before start", 1)]
    found = rows(
        made, f"SELECT n, unknown, p50 FROM percentile WHERE metric = 'e2e_gateway' AND population = 'ok' AND {TOTAL}"
    )
    assert found == [(1, 1, 200.0)]


@pytest.mark.parametrize(
    ("written", "end", "flag"),
    [(18446744073709360311, None, "time out of range"), (-191305, -191305, "end before start")],
)
def test_a_duration_that_wrapped_around_costs_no_page(tmp_path: Path, written: int, end: int | None, flag: str) -> None:
    start_us = BASE_NS // 1000
    one = {
        "traceID": T1, "spanID": "1" * 16, "operationName": "o", "references": [], "startTime": start_us, "duration": written,
        "tags": [], "logs": [], "processID": "p",
    }  # fmt: skip
    trace = {"traceID": T1, "spans": [one], "processes": {"p": {"serviceName": "s", "tags": []}}}
    found = given(tmp_path, {"data": [trace]}, source=None).one()
    assert (found["start_ns"], found["flag"]) == (BASE_NS, flag)
    assert found["end_ns"] == (None if end is None else BASE_NS + end * 1000)
    as_zipkin = {
        "traceId": T1,
        "id": "1" * 16,
        "timestamp": start_us,
        "duration": written,
        "localEndpoint": {"serviceName": "s"},
    }
    assert given(tmp_path, json.dumps([as_zipkin]), source=None).one()["end_ns"] == found["end_ns"]
    (tmp_path / "run").mkdir()
    made = store(tmp_path / "run", spans=[gateway(T1, endTimeUnixNano="18446744073709360311"), gateway(T2)])
    assert Page(of_run(made, tmp_path / "run").html).headings()["outcomes"]
    assert rows(made, "SELECT flag FROM span WHERE flag IS NOT NULL") == [("time out of range",)]


def test_a_start_on_another_clock_than_the_end_is_in_no_window(tmp_path: Path) -> None:
    odd = gateway(T1, end=17160, startTimeUnixNano="100000000000000")
    made = store(tmp_path, spans=[odd, gateway(T2)])
    assert rows(made, "SELECT start_ns, length_s FROM run_window") == [(BASE_NS, 0.2)]
    assert audited(made, "clock not set") == [("gw", 1)]
    assert rows(made, "SELECT e2e_gateway_ms FROM attempt_metric WHERE request_id LIKE '1111%'") == [(None,)]
    assert rows(made, "SELECT offered, ok FROM ledger WHERE load_point = '(all)'") == [(2, 2)]


def test_a_monotonic_clock_gives_a_duration_and_moves_no_window(tmp_path: Path) -> None:
    router = gateway(
        T1,
        2,
        kind="SPAN_KIND_INTERNAL",
        name="router",
        startTimeUnixNano=44511913730532,
        endTimeUnixNano=44512365817635,
    )
    made = store(tmp_path, spans=[router, gateway(T1)])
    assert rows(made, "SELECT end_ns - start_ns, kind FROM span WHERE name = 'router'") == [(452_087_103, "internal")]
    assert rows(made, "SELECT start_ns, length_s FROM run_window") == [(BASE_NS, 0.2)]
    assert audited(made, "clock not set") == [("gw", 1)]


@pytest.mark.parametrize("end", ["0", None])
def test_a_span_that_never_ended_has_no_duration_and_no_outcome(tmp_path: Path, end: str | None) -> None:
    made = store(tmp_path, spans=[gateway(T1, endTimeUnixNano=end), gateway(T2)])
    assert rows(made, "SELECT e2e_gateway_ms, e2e_gateway_why FROM attempt_metric ORDER BY request_id") == [
        (None, "not recorded"),
        (200.0, None),
    ]
    assert rows(made, "SELECT ok, unresolved FROM ledger WHERE load_point = '(all)'") == [(1, 1)]
    assert rows(made, "SELECT length_s FROM run_window") == [(0.2,)]
    assert [n for _, n in audited(made, "no terminal event")] == [1]


def begun_first() -> list[Line]:
    """A server on another host whose span begins 40 ms before its client's."""
    client = span(
        T1, 1, service="app", scope="x", kind=3, start=1000, end=1100, host="h1",
        attributes={"gen_ai.operation.name": "chat"},
    )  # fmt: skip
    server = span(
        T1, 2, parent=1, service="gw", scope="fastapi", kind=2, start=960, end=1010, host="h2", attributes=ROUTE
    )
    return [client, server]


def test_a_server_that_seems_to_begin_before_its_client_keeps_its_duration(tmp_path: Path) -> None:
    made = store(tmp_path, spans=begun_first())
    assert rows(made, "SELECT sides FROM attempt") == [("client,gateway",)]
    assert rows(made, "SELECT e2e_ms, e2e_gateway_ms FROM attempt_metric") == [(100.0, 50.0)]
    assert rows(made, "SELECT related FROM request_timeline ORDER BY side") == [(True,), (False,)]


def test_the_skew_of_a_server_that_seems_to_begin_first_is_told_and_applied_to_nothing(tmp_path: Path) -> None:
    made = store(tmp_path, spans=begun_first())
    assert rows(made, "SELECT clock_a, clock_b, low_ms, high_ms FROM clock_advice") == [("h1", "h2", -90.0, -40.0)]
    assert rows(made, "SELECT start_ns % 10000000000 / 1e6 FROM span ORDER BY 1") == [(960.0,), (1000.0,)]


def test_a_span_that_was_exported_twice_is_one_request(tmp_path: Path) -> None:
    one = engine_span(T1, 1, start=0, ttft=100, queue=20, prefill=60, decode=30, tokens=5)
    made = store(tmp_path, spans=[one, one])
    assert rows(made, "SELECT offered, attempts FROM ledger WHERE load_point = '(all)'") == [(1, 1)]
    assert rows(made, "SELECT records, duplicates FROM source_file") == [(2, 1)]


def test_values_that_are_no_numbers_stay_in_the_count_and_out_of_percentiles(tmp_path: Path) -> None:
    spans = []
    for i in range(1, 11):
        spans.append(engine_span(f"{i:032x}", i, start=i, ttft=100, queue=20, prefill=60, decode=30, tokens=5))
        for attribute in body(spans[-1])["attributes"]:
            if i < 3 and attribute["key"].endswith("time_to_first_token"):
                attribute["value"] = {"doubleValue": ("NaN", "Infinity")[i - 1]}
    made = store(tmp_path, spans=spans)
    assert rows(made, "SELECT offered FROM ledger WHERE load_point = '(all)'") == [(10,)]
    found = rows(
        made,
        f"SELECT n, unknown, p50, p999 FROM percentile WHERE metric = 'ttft_engine' AND population = 'ok' AND {TOTAL}",
    )
    assert found == [(8, 2, 100.0, 100.0)]
    assert audited(made, "implausible value") == [("gen_ai.latency.time_to_first_token", 2)]
    told = rows(
        made, "SELECT attributes ->> '$.\"gen_ai.latency.time_to_first_token\"' FROM span ORDER BY trace_id LIMIT 2"
    )
    assert told == [("NaN",), ("Infinity",)]
    findings = Page(of_run(made, tmp_path).html).tables["table-audit"]
    assert any("time_to_first_token" in cell[0] for line in findings[1:] for cell in line)
