"""Triton's trace files: requests from fragments, whatever their order; parts, tensors and odd fragments kept out."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from building import rows
from reproducing import balanced, notes, read

from analyzer import ingest
from analyzer.sources import recognise
from analyzer.sources.base import Options
from analyzer.sources.triton import SOURCE
from analyzer.sources.triton_traces import Gathered
from analyzer.store import Store

if TYPE_CHECKING:
    from pathlib import Path

Fragment = dict[str, Any]
BOOT = 2_356_000_000_000_000
# Microseconds from BOOT. The order is not that of time, as in what the server writes.
HTTP = (
    ("HTTP_RECV_START", 0), ("HTTP_RECV_END", 45), ("REQUEST_START", 150), ("QUEUE_START", 160),
    ("INFER_RESPONSE_COMPLETE", 5300), ("COMPUTE_START", 1160), ("COMPUTE_INPUT_END", 1500),
    ("COMPUTE_OUTPUT_START", 5000), ("COMPUTE_END", 5100), ("REQUEST_END", 5350), ("HTTP_SEND_START", 5400),
    ("HTTP_SEND_END", 5500),
)  # fmt: skip
SAMPLED = (
    "these are the requests that Triton's rate has chosen, by default 1 in 1000: the file does not say which it was, nor"
    " which requests failed once their model ran"
)


def model(trace: int, name: str = "llm", **more: Any) -> Fragment:
    return {"id": trace, "model_name": name, "model_version": 3, **more}


def time(trace: int, name: str, us: float) -> Fragment:
    return {"id": trace, "timestamps": [{"name": name, "ns": BOOT + round(us * 1000)}]}


def tensor(trace: int, data: str = "a secret") -> Fragment:
    told = {"name": "text", "data": data, "shape": "1", "dtype": "BYTES"}
    return {"id": trace, "activity": "TENSOR_QUEUE_INPUT", "tensor": told}


def trace(number: int, times: Any = HTTP, later: float = 0, **more: Any) -> list[Fragment]:
    """A trace as the server writes it: what came before the engine knew the model, the model, and the rest."""
    told = [time(number, name, us + later) for name, us in times]
    return [*told[:2], model(number, **more), *told[2:]]


def without(*names: str, times: Any = HTTP) -> list[tuple[str, float]]:
    return [(name, us) for name, us in times if name not in names]


def stream(*responses: float, sends: int | None = None, front: str = "HTTP") -> list[tuple[str, float]]:
    """A decoupled model's times: every response over HTTP, where a chunk's own time is not taken, else the first."""
    told = without("INFER_RESPONSE_COMPLETE", "HTTP_SEND_START", "HTTP_SEND_END", "REQUEST_END")
    told += [("INFER_RESPONSE_COMPLETE", us) for us in responses]
    for place in range(len(responses) if sends is None else sends):
        at = -BOOT / 1000 if front == "HTTP" else 21_500 + 10_000 * place
        told += [(f"{front}_SEND_START", at), (f"{front}_SEND_END", at if front == "HTTP" else at + 100)]
    if front == "GRPC":
        grpc = {"HTTP_RECV_START": "GRPC_WAITREAD_START", "HTTP_RECV_END": "GRPC_WAITREAD_END"}
        told = [(grpc.get(name, name), us - 9_000_000 * (name == "HTTP_RECV_START")) for name, us in told]
    return [*told, ("REQUEST_END", 60_000)]


def given(folder: Path, *fragments: Fragment, text: str | None = None) -> Store:
    path = folder / "trace.json"
    # No line ends, as the server writes it.
    path.write_text(text if text is not None else json.dumps(fragments, separators=(",", ":")), encoding="utf-8")
    return read(folder, path)


def ends(made: Store) -> list[tuple[Any, ...]]:
    """Of each attempt its times from BOOT in µs: arrived, admitted, started, first and last token, done; its outcome."""
    columns = ("arrived", "admitted", "started", "first_token", "last_token", "done")
    told = ", ".join(f"(engine_{name}_ns - {BOOT}) / 1000" for name in columns)
    return rows(made, f"SELECT {told}, outcome FROM attempt ORDER BY request_id")


# -- one request ---------------------------------------------------------------------------------------------------


def test_a_request_over_http_has_its_stages_and_no_first_token(tmp_path: Path) -> None:
    made = given(tmp_path, *trace(7, request_id="call-1"))
    assert ends(made) == [(0, 160, 1160, None, None, 5500, "ok")]
    assert rows(made, "SELECT stage, round(high_ms, 3) FROM stage ORDER BY 1") == [("edge", 0.16), ("queue", 1.0)]
    assert rows(made, "SELECT request_id, model, revision, worker, streamed, engine_clock, engine_clock_kind FROM attempt") == [
        (f"{tmp_path}/trace.json#7", "llm", "3", None, None, "triton", "monotonic")
    ]  # fmt: skip
    assert rows(made, "SELECT DISTINCT response_id, side FROM event WHERE response_id IS NOT NULL") == [
        ("call-1", "engine")
    ]
    found = rows(made, "SELECT source, tool, records, kept, set_aside, refused, dropped, note FROM source_file")
    assert found == [("triton", "triton", 1, 1, 0, 0, 0, SAMPLED)]


def test_the_order_of_fragments_and_how_far_apart_they_stand_change_nothing(tmp_path: Path) -> None:
    apart = [one for pair in zip(trace(1), trace(2, later=700), strict=True) for one in pair]
    made = given(tmp_path, *reversed(apart))
    assert ends(made) == [
        (0, 160, 1160, None, None, 5500, "ok"),
        (700, 860, 1860, None, None, 6200, "ok"),
    ]
    assert rows(made, "SELECT records, kept FROM source_file") == [(2, 2)]


def test_times_of_one_fragment_and_a_fragment_with_everything_are_read_alike(tmp_path: Path) -> None:
    whole = model(4) | {"timestamps": [one["timestamps"][0] for one in trace(4) if "timestamps" in one]}
    assert ends(given(tmp_path, whole)) == [(0, 160, 1160, None, None, 5500, "ok")]


def test_fragments_that_are_told_again_change_nothing(tmp_path: Path) -> None:
    made = given(tmp_path, *trace(1), *trace(1))
    assert ends(made) == [(0, 160, 1160, None, None, 5500, "ok")]
    assert rows(made, "SELECT records, kept FROM source_file") == [(1, 1)]


def test_a_request_over_grpc_arrives_when_it_was_read_and_not_when_the_server_began_to_wait(tmp_path: Path) -> None:
    grpc = [(name.replace("HTTP_RECV", "GRPC_WAITREAD").replace("HTTP", "GRPC"), us) for name, us in HTTP]
    grpc[0] = ("GRPC_WAITREAD_START", -20_000_000)
    assert ends(given(tmp_path, *trace(1, grpc))) == [(45, 160, 1160, None, None, 5500, "ok")]


def test_a_request_without_a_queue_of_its_own_is_admitted_when_it_was_taken_up(tmp_path: Path) -> None:
    assert ends(given(tmp_path, *trace(1, without("QUEUE_START"))))[0][1] == 150


def test_an_engine_without_a_server_in_front_ends_with_the_request(tmp_path: Path) -> None:
    bare = without("HTTP_RECV_START", "HTTP_RECV_END", "HTTP_SEND_START", "HTTP_SEND_END")
    assert ends(given(tmp_path, *trace(1, bare))) == [(None, 160, 1160, None, None, 5350, "ok")]


def test_a_version_that_was_not_asked_for_is_not_recorded(tmp_path: Path) -> None:
    made = given(tmp_path, *trace(1, model_version=-1))
    assert rows(made, "SELECT model, revision FROM attempt") == [("llm", None)]


# -- several responses ---------------------------------------------------------------------------------------------


def test_several_responses_over_http_have_a_first_and_a_last_token(tmp_path: Path) -> None:
    made = given(tmp_path, *trace(1, stream(21_160, 31_160, 51_160)), *trace(2, stream(21_160, 31_160, 71_160)))
    assert ends(made) == [
        # The server takes no time of a chunk: the end is the engine's, and not before the last response.
        (0, 160, 1160, 21_160, 51_160, 60_000, "ok"),
        (0, 160, 1160, 21_160, 71_160, 71_160, "ok"),
    ]
    found = rows(made, "SELECT stage, round(high_ms, 3) FROM stage WHERE attempt_id LIKE '%#1/%' ORDER BY 1")
    assert found == [("decode", 30.0), ("edge", 0.16), ("prefill", 20.0), ("queue", 1.0)]
    assert rows(made, "SELECT DISTINCT streamed FROM attempt") == [(True,)]


def test_of_two_responses_the_second_may_be_the_flag_that_ends_one_answer(tmp_path: Path) -> None:
    sends = {1: 2, 2: 1, 3: 0}
    made = given(
        tmp_path, *(one for number, n in sends.items() for one in trace(number, stream(21_160, 31_160, sends=n)))
    )
    assert [row[3:5] for row in ends(made)] == [(21_160, 31_160), (None, None), (21_160, 31_160)]


def test_a_stream_over_grpc_tells_the_first_response_only_and_what_was_sent(tmp_path: Path) -> None:
    # Two that were sent may be an answer and the empty message that ends it.
    made = given(tmp_path, *(one for n in (1, 2, 3) for one in trace(n, stream(21_160, sends=n, front="GRPC"))))
    assert ends(made) == [
        (45, 160, 1160, None, None, 21_600, "ok"),
        (45, 160, 1160, None, None, 31_600, "ok"),
        (45, 160, 1160, 21_160, None, 41_600, "ok"),
    ]


# -- how it ended --------------------------------------------------------------------------------------------------


def test_a_trace_without_an_end_is_unresolved(tmp_path: Path) -> None:
    cut = without("REQUEST_END", "HTTP_SEND_START", "HTTP_SEND_END")
    made = given(tmp_path, *trace(1, cut), *trace(2))
    assert [row[5:] for row in ends(made)] == [(None, "unresolved"), (5500, "ok")]
    assert rows(made, "SELECT offered, ok, unresolved FROM ledger WHERE load_point = '(all)'") == [(2, 1, 1)]


def test_a_request_that_was_never_answered_over_its_connection_is_unresolved(tmp_path: Path) -> None:
    made = given(tmp_path, *trace(1, without("HTTP_SEND_START", "HTTP_SEND_END")))
    assert [row[5:] for row in ends(made)] == [(5350, "unresolved")]
    said = "1 requests ended and nothing tells that an answer was sent, as when the client has left"
    assert notes(made) == [SAMPLED, f"{said}: how they ended is not recorded"]


def test_an_answer_that_no_model_made_is_unresolved(tmp_path: Path) -> None:
    refused = [("HTTP_RECV_START", 0), ("HTTP_RECV_END", 45), ("HTTP_SEND_START", 90), ("HTTP_SEND_END", 95)]
    made = given(tmp_path, *(time(1, name, us) for name, us in refused))
    assert ends(made) == [(0, None, None, None, None, 95, "unresolved")]
    said = "1 requests were answered and no model ran (refused, timed out in the queue, or from the response cache)"
    assert notes(made)[1:] == [f"{said}: how they ended is not recorded"]


# -- parts ---------------------------------------------------------------------------------------------------------


def test_models_of_an_ensemble_are_parts_of_its_request_and_no_requests(tmp_path: Path) -> None:
    ensemble = trace(10, without("COMPUTE_START", "COMPUTE_INPUT_END", "COMPUTE_OUTPUT_START", "COMPUTE_END"))
    inner = without("HTTP_RECV_START", "HTTP_RECV_END", "HTTP_SEND_START", "HTTP_SEND_END", "INFER_RESPONSE_COMPLETE")
    parts = [*trace(11, inner, name="pre", parent_id=10), *trace(12, inner, 40, name="llm", parent_id=10)]
    # A part's own part, of which the model stands behind the times.
    deep = trace(13, inner, name="rank", parent_id=12)
    made = given(tmp_path, *parts, *ensemble, *deep[:2], *deep[3:], deep[2])
    assert ends(made) == [(0, 160, None, None, None, 5500, "ok")]
    assert rows(made, "SELECT records, kept, set_aside, refused FROM source_file") == [(4, 1, 3, 0)]
    assert notes(made)[1:] == ["3 traces are of models that other requests called, and parts of those: set aside"]
    assert rows(made, "SELECT offered FROM ledger WHERE load_point = '(all)'") == [(1,)]


def test_a_parent_that_is_no_number_makes_a_part_and_none_makes_none(tmp_path: Path) -> None:
    odd = ("10", 1.5, -4, [10], 0, None)
    made = given(tmp_path, *(one for n, parent in enumerate(odd) for one in trace(n, parent_id=parent)))
    assert rows(made, "SELECT records, kept, set_aside FROM source_file") == [(6, 2, 4)]
    assert rows(made, "SELECT right(request_id, 2) FROM attempt ORDER BY 1") == [("#4",), ("#5",)]


# -- ids -----------------------------------------------------------------------------------------------------------


def test_files_that_a_log_frequency_has_split_keep_their_requests_apart(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    # After a restart traces are numbered from 1 again, and clients like to call every request 0.
    for place in range(2):
        (folder / f"trace.json.{place}").write_text(json.dumps(trace(1, later=9000 * place, request_id="0")))
    made = read(tmp_path, folder)
    assert rows(made, "SELECT request_id FROM attempt ORDER BY 1") == [
        (f"{folder}/trace.json.0#1",),
        (f"{folder}/trace.json.1#1",),
    ]
    assert rows(made, "SELECT count(*) FROM audit WHERE audit IN ('repeated boundary', 'told twice')") == [(0,)]


def test_a_client_that_chose_the_requests_id_meets_its_trace(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "trace.json").write_text(json.dumps([*trace(1, request_id="call-1"), *trace(2, request_id="same")]))
    sent = {"event": "sent", "ms": 1_777_312_800_000, "clock": "c", "side": "client"}
    lines = [{"request": name, **sent} for name in ("call-1", "other")]
    (folder / "client.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    made = read(tmp_path, folder)
    assert rows(made, "SELECT request_id, sides, model FROM request ORDER BY 1") == [
        (f"{folder}/trace.json#2", "engine", "llm"), ("call-1", "client,engine", "llm"), ("other", "client", None),
    ]  # fmt: skip


# -- content -------------------------------------------------------------------------------------------------------


def test_tensors_are_counted_and_leave_nothing(tmp_path: Path) -> None:
    # The server writes texts as they are, so that the second is no JSON; the third has its keys in another order.
    odd = json.dumps(tensor(1)).replace("a secret", 'he said "a secret" \t')
    other = json.dumps({"tensor": {"data": "a secret"}, "id": 1})
    fragments = [*map(json.dumps, trace(1)), json.dumps(tensor(1)), odd, other, *map(json.dumps, trace(2))]
    made = given(tmp_path, text=f"[{','.join(fragments)}]")
    assert rows(made, "SELECT records, kept, set_aside, refused, dropped FROM source_file") == [(2, 2, 0, 0, 3)]
    assert notes(made)[1:] == ["3 tensors, which hold what was asked and answered, were left out"]
    assert b"secret" not in (tmp_path / "s.duckdb").read_bytes()


def test_a_text_with_a_line_end_breaks_the_list_and_nothing_behind_it_is_taken(tmp_path: Path) -> None:
    forged = json.dumps(trace(9))
    broken = json.dumps(tensor(2)).replace("a secret", f"a secret\n{forged}")
    made = given(tmp_path, text=f"[{','.join(map(json.dumps, trace(1)))},{broken},{forged[1:]}")
    assert rows(made, "SELECT records, kept, refused FROM source_file") == [(2, 1, 1)]
    why = "the rest of the file was not read, as texts in it may look like traces"
    assert rows(made, "SELECT reason, sample FROM refused") == [
        (f"not valid JSON: a line ends inside a text; {why}", "not shown, as it may hold a tensor")
    ]
    assert b"secret" not in (tmp_path / "s.duckdb").read_bytes()


def test_what_is_refused_is_shown_without_what_it_says(tmp_path: Path) -> None:
    bad = {"id": "a secret", "timestamps": [{"name": "a secret", "ns": 5}]}
    worse = {"id": -1, "tensor": {"data": [4711, 4712]}}
    made = given(tmp_path, *trace(1), bad, worse)
    assert rows(made, "SELECT sample FROM refused ORDER BY 1") == [
        ("not shown, as it may hold a tensor",),
        ('{"id":"...","timestamps":[{"name":"...","ns":5}]}',),
    ]
    assert b"secret" not in (tmp_path / "s.duckdb").read_bytes()
    assert b"4711" not in (tmp_path / "s.duckdb").read_bytes()


# -- odd files -----------------------------------------------------------------------------------------------------

NO_ID = "id is not the number of a trace"
NO_NS = "ns is not a whole number of nanoseconds that a clock can show"
NO_TIMES = "timestamps are not a list of names with ns"
NOTHING = "it tells neither a model nor a time nor a tensor"


ODD = (
    ('{"timestamps":[]}', NO_ID), ('{"id":null,"timestamps":[]}', NO_ID), ('{"id":true,"timestamps":[]}', NO_ID),
    ('{"id":1.5,"timestamps":[]}', NO_ID), ('{"id":-1,"timestamps":[]}', NO_ID), ('{"id":"1","timestamps":[]}', NO_ID),
    ('{"id":18446744073709551616,"timestamps":[]}', NO_ID), (f'{{"id":{"9" * 400},"timestamps":[]}}', NO_ID),
    ('{"id":NaN,"timestamps":[]}', NO_ID),
    ('{"id":1,"timestamps":[{"name":"REQUEST_END","ns":-5}]}', NO_NS),
    ('{"id":1,"timestamps":[{"name":"REQUEST_END","ns":"5"}]}', NO_NS),
    ('{"id":1,"timestamps":[{"name":"REQUEST_END","ns":NaN}]}', NO_NS),
    ('{"id":1,"timestamps":[{"name":"REQUEST_END","ns":1e300}]}', NO_NS),
    ('{"id":1,"timestamps":[{"name":"REQUEST_END","ns":5.5}]}', NO_NS),
    ('{"id":1,"timestamps":[{"name":"REQUEST_END","ns":9223372036854775807}]}', NO_NS),
    ('{"id":1,"timestamps":[{"name":"REQUEST_END"}]}', NO_NS),
    ('{"id":1,"timestamps":[{"name":"HTTP_SEND_END","ns":7},{"name":"REQUEST_END","ns":null}]}', NO_NS),
    ('{"id":1,"timestamps":[{"ns":5}]}', NO_TIMES), ('{"id":1,"timestamps":[5]}', NO_TIMES),
    ('{"id":1,"timestamps":{"name":"REQUEST_END","ns":5}}', NO_TIMES), ('{"id":1,"timestamps":null}', NO_TIMES),
    ('{"id":1}', NOTHING), ('{"id":1,"prompt":"a secret"}', NOTHING), ("{}", NO_ID), ("[1]", "it stands where an object belongs"),
    ('{"id":1,"timestamps":[{"name":"REQUEST_END","ns":01}]}', "not valid JSON"),
    ('{"id":1e99999999999999999999,"timestamps":[]}', "not valid JSON"),
)  # fmt: skip


def test_a_fragment_that_cannot_be_taken_is_refused_with_one_sentence(tmp_path: Path) -> None:
    told = [*map(json.dumps, trace(2)), *(text for text, _ in ODD)]
    made = given(tmp_path, text=f"[{','.join(told)}]")
    query = "SELECT reason FROM refused ORDER BY regexp_extract(position, 'byte ([0-9]+)', 1)::INT"
    assert rows(made, query) == [(reason,) for _, reason in ODD]
    assert ends(made) == [(0, 160, 1160, None, None, 5500, "ok")]
    assert rows(made, "SELECT records, kept, refused FROM source_file") == [(1 + len(ODD), 1, len(ODD))]
    assert b"secret" not in (tmp_path / "s.duckdb").read_bytes()


def test_what_stands_between_fragments_is_refused(tmp_path: Path) -> None:
    made = given(tmp_path, text=f'[{",".join(map(json.dumps, trace(2)))},5,"a secret"]')
    assert rows(made, "SELECT reason FROM refused") == [("it stands where an object belongs",)]
    assert b"secret" not in (tmp_path / "s.duckdb").read_bytes()
    assert balanced(made)


def test_a_trace_without_a_time_is_refused_by_its_number(tmp_path: Path) -> None:
    made = given(tmp_path, *trace(1), model(2), time(3, "A_CUSTOM_ACTIVITY", 5), {"id": 4, "timestamps": []}, tensor(5))
    assert rows(made, "SELECT position, reason FROM refused ORDER BY 1") == [
        (f"trace {number}", "it tells no time of a request's course") for number in (2, 3, 4, 5)
    ]
    assert rows(made, "SELECT records, kept, refused, dropped FROM source_file") == [(5, 1, 4, 1)]
    assert balanced(made)


def test_a_file_that_was_cut_off_gives_what_is_whole(tmp_path: Path) -> None:
    text = json.dumps([*trace(1), *trace(2)])
    made = given(tmp_path, text=text[:-20])
    assert [row[-1] for row in ends(made)] == ["ok", "unresolved"]
    assert rows(made, "SELECT reason FROM refused") == [("torn: the file ends inside it",)]
    assert rows(made, "SELECT records, kept, refused FROM source_file") == [(3, 2, 1)]


def test_a_list_that_a_running_server_has_not_closed_is_read(tmp_path: Path) -> None:
    made = given(tmp_path, text=json.dumps(trace(1))[:-1])
    assert [row[-1] for row in ends(made)] == ["ok"]
    assert rows(made, "SELECT position, reason, sample FROM refused") == [
        ("line 1, byte 0", "torn: the file ends inside it", "not shown, as it may hold a tensor")
    ]


@pytest.mark.parametrize("text", ['{"traces": [1]}', '{"id": 1, "timestamps": []}'])
def test_an_object_in_place_of_a_list_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "trace.json"
    path.write_text(text)
    assert recognise(path) is None
    files, _ = ingest.find([str(path)])
    store = Store(tmp_path / "s.duckdb", create=True)
    ingest.ingest_files(store, files, ingest.How(source="triton"))
    assert rows(store, "SELECT reason FROM refused") == [("not a list of a trace's fragments",)]
    assert rows(store, "SELECT records, kept, refused FROM source_file") == [(1, 0, 1)]


@pytest.mark.parametrize(
    "text", ["", "[]", "[5]", "[{}]", '[{"id": "0af7", "traceId": "0af7", "timestamp": 5}]', '[{"id": 1, "activity": "run"}]']
)  # fmt: skip
def test_what_is_no_trace_of_triton_is_not_taken_for_one(tmp_path: Path, text: str) -> None:
    assert not SOURCE.sniff(text.encode(), tmp_path / "trace.json")


def test_a_file_is_known_by_its_first_fragment_whichever_that_is(tmp_path: Path) -> None:
    path = tmp_path / "trace.json.0"
    for first in (time(1, "REQUEST_START", 0), model(1), model(2, parent_id=1), tensor(1)):
        text = json.dumps([first, *trace(1)]).encode()
        assert all(SOURCE.sniff(start, path) for start in (text, text[:120], b"\n " + text)), first


def test_memory_is_of_traces_and_not_of_fragments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("analyzer.sources.triton_traces._AT_ONCE", 10)
    tokens = stream(*range(20_000, 420_000, 100))
    made = given(tmp_path, *trace(1, tokens), *trace(2))
    assert ends(made)[0] == (0, 160, 1160, 20_000, 419_900, 419_900, "ok")
    assert ends(made)[1] == (0, 160, 1160, None, None, 5500, "ok")
    gathered = Gathered()
    for piece in SOURCE.fragments(tmp_path / "trace.json", Options("t"), gathered):
        assert piece.records == 0
    assert gathered.held <= 40
