"""Faults with tokens: counted twice, counted from text, lost as texts of digits, or divided by nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from building import TOTAL, lines, rows, slo, span, store
from rendering import Page, of_run

if TYPE_CHECKING:
    from pathlib import Path

    from building import Line

T1, T2, T3 = "11" * 16, "22" * 16, "33" * 16


def usage(read: int, written: int, *, names: str = "input_tokens output_tokens") -> dict[str, Any]:
    return {f"gen_ai.usage.{name}": count for name, count in zip(names.split(), (read, written), strict=True)}


def chat(trace: str, number: int, *, start: float = 0, kind: int = 3, operation: str = "chat", **more: Any) -> Line:
    attributes = {"gen_ai.operation.name": operation, **more.pop("attributes")}
    return span(
        trace, number, service="app", scope="x", kind=kind, start=start, end=start + 90, attributes=attributes, **more
    )


def test_two_answers_without_a_token_cost_no_other_its_numbers(tmp_path: Path) -> None:
    full = "{0} sent {1}\n{0} first_content {2} tokens=1\n{0} last_content {3} output_tokens=3\n{0} done {3} outcome=ok"
    empty = "{0} sent {1} streamed=true\n{0} done {3} outcome=ok output_tokens=0"
    text = "\n".join((empty if i in (238, 288) else full).format(f"r{i}", i, i + 20, i + 40) for i in range(1, 301))
    made = store(tmp_path, lines(text), slo=[slo("tpot", 50)])
    assert rows(made, "SELECT request_id, outcome FROM attempt WHERE output_tokens = 0 ORDER BY 1") == [
        ("r238", "ok"),
        ("r288", "ok"),
    ]
    query = f"SELECT n, not_applicable, p50 FROM percentile WHERE metric = 'tpot' AND population = 'ok' AND {TOTAL}"
    assert rows(made, query) == [(298, 2, 10.0)]
    page = Page(of_run(made, tmp_path).html)
    head, whole = page.tables["table-percentile-tpot-known"][:2]
    cells = {key: value for (_, key), (_, value) in zip(head, whole, strict=True)}
    assert (cells["n_ok"], cells["not_applicable"]) == ("298", "2")


def test_a_count_made_again_from_text_stands_beside_the_servers(tmp_path: Path) -> None:
    text = "a sent 0\na done 900 outcome=ok output_tokens=107 retokenized_output_tokens=7"
    made = store(tmp_path, lines(text))
    assert rows(made, "SELECT output_tokens, retokenized_output_tokens, token_basis FROM attempt") == [
        (107, 7, "client")
    ]
    ((told,),) = rows(made, "SELECT detail FROM audit WHERE audit = 'tokens counted from text'")
    assert told.startswith("the load generator counts 7 from the text where the server counts 107")


def test_reasoning_is_inside_the_output_and_not_added_to_it(tmp_path: Path) -> None:
    thinking = {**usage(10, 500), "gen_ai.usage.reasoning.output_tokens": 300}
    text = "a sent 0\na done 900 outcome=ok output_tokens=500 reasoning_tokens=300"
    made = store(tmp_path, lines(text), spans=[chat(T1, 1, attributes=thinking)])
    assert rows(made, "SELECT output_tokens, reasoning_tokens FROM attempt") == [(500, 300), (500, 300)]
    assert rows(made, "SELECT output_tokens FROM request") == [(500,), (500,)]


def test_counts_of_tokens_are_read_from_digits_in_a_text_and_from_numbers(tmp_path: Path) -> None:
    as_text, as_number = chat(T1, 1, attributes=usage(25, 25)), chat(T2, 2, attributes=usage(25, 25))
    for attribute in as_number["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["attributes"]:
        if "intValue" in attribute["value"]:
            attribute["value"]["intValue"] = int(attribute["value"]["intValue"])
    made = store(tmp_path, spans=[as_text, as_number])
    assert rows(made, "SELECT input_tokens, output_tokens FROM attempt") == [(25, 25), (25, 25)]


def test_a_parent_that_repeats_the_sum_of_its_calls_is_no_call(tmp_path: Path) -> None:
    calls = [
        chat(T1, 2, parent=1, start=10, attributes=usage(56, 5)),
        chat(T1, 3, parent=1, start=110, attributes=usage(57, 6)),
    ]
    for kind, operation in ((1, "invoke_agent"), (3, "invoke_agent"), (3, "chat")):
        folder = tmp_path / f"{kind} {operation}"
        folder.mkdir()
        agent = chat(T1, 1, kind=kind, operation=operation, attributes=usage(113, 11))
        made = store(folder, spans=[agent, *calls])
        assert rows(made, "SELECT count(*), sum(input_tokens + output_tokens) FROM request") == [(2, 124)]


def test_a_request_delivers_the_tokens_of_its_answer_and_its_attempts_consume_their_own(tmp_path: Path) -> None:
    text = """
        a sent 0 attempt=1
        a done 100 attempt=1 outcome=rejected output_tokens=500
        a sent 200 attempt=2
        a done 400 attempt=2 outcome=ok output_tokens=520
    """
    made = store(tmp_path, lines(text))
    assert rows(made, "SELECT output_tokens FROM request") == [(520,)]
    assert rows(made, "SELECT sum(output_tokens) FROM attempt") == [(1020,)]


def test_old_and_new_names_of_token_counts_are_counted_once(tmp_path: Path) -> None:
    before, after = usage(10, 4, names="prompt_tokens completion_tokens"), usage(10, 4)
    spans = [chat(trace, 1, attributes=named) for trace, named in ((T1, before), (T2, after), (T3, before | after))]
    made = store(tmp_path, spans=spans)
    assert rows(made, "SELECT input_tokens, output_tokens FROM attempt") == [(10, 4)] * 3
