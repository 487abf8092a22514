"""What of a span's attributes stays out of the store, by default and by name."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from reading import attributes, document, given, span

from analyzer.sources.redacting import Redaction

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "key",
    [
        "gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.prompt", "gen_ai.prompt.0.content", "gen_ai.completion.0.content",
        "gen_ai.system_instructions", "gen_ai.tool.definitions", "llm.input_messages.0.message.content", "llm.prompts",
        "input.value", "output.value", "traceloop.entity.input", "http.request.header.authorization", "exception.stacktrace",
        "metadata.requester_metadata", "messages", "prompt", "hidden_params",
    ],
)  # fmt: skip
def test_content_is_left_out(key: str) -> None:
    assert Redaction()({key: "a secret", "n": 1}) == ({"n": 1}, 1)
    assert Redaction(keep_content=True)({key: "a secret", "n": 1}) == ({key: "a secret", "n": 1}, 0)


@pytest.mark.parametrize(
    "key",
    ["gen_ai.request.model", "gen_ai.usage.input_tokens", "http.route", "prompt_tokens", "input", "exception.type"],
)
def test_what_is_no_content_is_kept(key: str) -> None:
    assert Redaction()({key: 1}) == ({key: 1}, 0)


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("user.id", {"user.name": 2, "users": 3}),
        ("user.*", {"users": 3}),
        ("user*", {}),
        ("*.id", {"user.name": 2, "users": 3}),
        ("user?id", {"user.name": 2, "users": 3}),
        ("USER.ID", {"user.id": 1, "user.name": 2, "users": 3}),
        ("user", {"user.id": 1, "user.name": 2, "users": 3}),
    ],
)
def test_a_name_is_exact_or_has_stars(name: str, kept: dict[str, int]) -> None:
    found, dropped = Redaction(drop=(name,))({"user.id": 1, "user.name": 2, "users": 3})
    assert (found, dropped) == (kept, 3 - len(kept))


def test_a_name_is_dropped_even_where_content_is_kept() -> None:
    assert Redaction(keep_content=True, drop=("a",))({"a": 1, "prompt": 2}) == ({"prompt": 2}, 1)


def test_names_are_met_inside_nested_values_alone_and_with_those_above() -> None:
    nested: dict[str, Any] = {"llm": {"messages": "a secret", "n": 1}, "list": [{"user": {"id": 7}}, 5]}
    assert Redaction(drop=("list.user.id",))(nested) == ({"llm": {"n": 1}, "list": [{"user": {}}, 5]}, 2)


def test_a_request_id_among_headers_is_kept_unless_it_is_named() -> None:
    headers = {"http.request.header.x-request-id": ["r-7"]}
    assert Redaction()(headers) == ({"x_request_id": "r-7"}, 1)
    assert Redaction(drop=("x_request_id",))(headers) == ({}, 1)


def test_names_are_dropped_from_resource_events_and_links_and_counted(tmp_path: Path) -> None:
    secret = attributes(**{"user.id": {"stringValue": "a secret"}, "n": {"intValue": "1"}})
    one = span(
        attributes=secret,
        events=[{"name": "e", "timeUnixNano": "5", "attributes": secret}],
        links=[{"traceId": "", "spanId": "", "attributes": secret}],
    )
    taken = given(tmp_path, document(one, resource={"attributes": secret}), drop=("user.id",))
    assert "a secret" not in str(taken.spans)
    assert taken.dropped == 4
    found = taken.one()
    assert [
        found["attributes"],
        found["resource"],
        found["events"][0]["attributes"],
        found["links"][0]["attributes"],
    ] == [{"n": 1}] * 4


def test_a_host_that_is_dropped_names_no_clock(tmp_path: Path) -> None:
    resource = {"attributes": attributes(**{"host.name": {"stringValue": "secret-host"}})}
    found = given(tmp_path, document(span(), resource=resource), drop=("host.*",)).one()
    assert "secret-host" not in str(found)


SAID = attributes(**{"gen_ai.prompt": {"stringValue": "a secret"}})


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(document(span(traceId="zz", attributes=SAID))),
        json.dumps(document({"attributes": SAID, **span(spanId="zz")})),
        json.dumps({"resourceSpans": [{"scopeSpans": 5, "resource": {"attributes": SAID}}]}),
        '{"k": 1, "a": "a \\" secret',
        '{"a": ["a secret", "a secret',
        "[INST] a secret",
        "begins inside a secret\\",
        json.dumps("a secret"),
        json.dumps({"a": {"gen_ai.prompt": "a secret"}}),
    ],
)
def test_the_sample_of_a_refused_record_says_nothing_that_was_said(tmp_path: Path, content: str) -> None:
    taken = given(tmp_path, content)
    assert len(taken.refused) == 1
    assert "secret" not in str(taken.refused)
    assert taken.refused[0][2]


def test_the_sample_of_a_refused_span_names_it(tmp_path: Path) -> None:
    ((_, _, sample),) = given(tmp_path, document(span(traceId="zz", attributes=SAID))).refused
    assert sample.startswith('{"traceId":"zz","spanId":"eee19b7ec3c1b174","name":"s"')
