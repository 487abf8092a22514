"""What is no manifest is refused in one sentence: what, where, and what to do."""

from __future__ import annotations

import json
import math
import os
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.errors import ExitCode, ManifestError
from analyzer.manifest import Manifest, declared, load, skeleton
from analyzer.manifest.paths import inside

if TYPE_CHECKING:
    from collections.abc import Callable


def refused(path: Path) -> str:
    """Load what must be refused, and give the sentence without the folder's name."""
    with pytest.raises(ManifestError) as caught:
        load(path)
    assert caught.value.exit_code == ExitCode.USAGE
    assert "\n" not in str(caught.value)
    return str(caught.value).replace(f"{path.parent}{os.sep}", "")


def refused_text(tmp_path: Path, text: str | bytes) -> str:
    path = tmp_path / "run.json"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return refused(path)


def refused_document(tmp_path: Path, document: dict[str, Any]) -> str:
    return refused_text(tmp_path, json.dumps(document))


def test_a_manifest_is_loaded_from_text_or_path(
    blank: dict[str, Any], at: Callable[[dict[str, Any]], Manifest]
) -> None:
    manifest = at(blank)
    assert manifest.name == "burst"
    assert load(str(manifest.path)).document == blank
    assert manifest.raw_files() == ()
    assert not manifest.is_sealed
    assert manifest.run_id is None


def test_a_byte_order_mark_does_no_harm(blank: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps(blank), encoding="utf-8-sig")
    assert load(tmp_path / "run.json").name == "burst"


def test_a_folder_is_no_manifest_and_its_run_json_is_offered(tmp_path: Path) -> None:
    folder = tmp_path / "traces"
    folder.mkdir()
    assert refused(folder) == "traces is a folder, and a manifest is a file; name the run.json of the run"
    (folder / "run.json").touch()
    assert refused(folder).endswith(f"; did you mean {Path('traces', 'run.json')}?")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    assert refused(tmp_path / "run.json").startswith("run.json does not exist; ")
    assert "cannot be read" in refused(tmp_path / ("x" * 300))
    assert "cannot be read" in refused(tmp_path / "a\0b")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            '{"manifest": 1,\n "name": ',
            "run.json is not JSON: line 2, column 10: Expecting value; it looks cut off; restore it whole",
        ),
        (
            '{"manifest": 1, "na',
            "run.json is not JSON: line 1, column 17: Unterminated string; it looks cut off; restore it whole",
        ),
        (
            '{"manifest": 1,\n "name" 3}',
            "run.json is not JSON: line 2, column 9: Expecting ':' delimiter; mend it there",
        ),
        ("", "run.json is empty; `analyze manifest new` writes a manifest"),
        ("[1]", "run.json is JSON but no run manifest: it holds a list, not an object"),
        (b"\xff\xfe", "run.json is not UTF-8 text: byte 0 is not; save it as UTF-8"),
        ('{"manifest": NaN}', "run.json: NaN is no JSON number; "),
        ('{"a": ' + "9" * 5000 + "}", "run.json: a number of 5000 digits is beyond what JSON readers hold"),
        ("[" * 200_000, "run.json is nested too deep to be a manifest"),
        ('{"manifest": 1, "x": ' + "[" * 60 + "]" * 60 + "}", "is nested deeper than 40 levels"),
        ('{"manifest": 2}', "run.json: manifest is 2, and only version 1 can be read"),
        ('{"requests": []}', 'run.json is JSON but no run manifest: it lacks "manifest": 1; '),
    ],
)
def test_text_that_is_no_manifest_is_refused_with_its_place(tmp_path: Path, text: str | bytes, sentence: str) -> None:
    assert sentence in refused_text(tmp_path, text)


def test_a_key_that_stands_twice_is_refused(tmp_path: Path) -> None:
    assert refused_text(tmp_path, '{"manifest": 1, "slo": [], "slo": []}') == (
        'run.json: the key "slo" stands twice in one object (beside manifest); keep one'
    )


def test_data_named_by_mistake_is_not_read_whole(tmp_path: Path) -> None:
    with (tmp_path / "run.json").open("wb") as file:
        file.truncate(17 * 2**20)
    assert refused(tmp_path / "run.json") == "run.json is larger than 16 MiB, so it is no manifest"


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (
            1796069308473857694,
            "workload.seed is 1796069308473857694, which JSON readers round",
        ),
        (1e400, "Infinity is no JSON number"),
        ("\ud800", "workload.seed holds half a character"),
    ],
)
def test_a_value_that_readers_would_not_agree_on_is_refused(
    blank: dict[str, Any], tmp_path: Path, value: object, sentence: str
) -> None:
    blank["workload"]["seed"] = value
    assert sentence in refused_document(tmp_path, blank)


def test_unknown_values_are_listed_with_their_reason_and_count_as_not_declared(
    blank: dict[str, Any], at: Callable[[dict[str, Any]], Manifest]
) -> None:
    blank["model"]["revision"] = {"unknown": "the vendor does not say"}
    blank["workload"]["sampling"] = {"top_p": {"unknown": "default of the client"}}
    manifest = at(blank)
    assert ("model.revision", "the vendor does not say") in manifest.unknowns()
    assert ("workload.sampling.top_p", "default of the client") in manifest.unknowns()
    assert "model.id" not in dict(manifest.unknowns())
    assert declared(manifest.document, "model", "revision") is None
    assert declared(manifest.document, "model", "id") == "m"
    assert declared(manifest.document, "model", "no such", "field") is None


@pytest.mark.parametrize(
    ("given_path", "sentence"),
    [
        ("/etc/passwd", "is absolute"),
        ("C:\\data\\a.jsonl", "is absolute"),
        ("\\\\server\\share\\a", "is absolute"),
        ("../a.jsonl", "leads out of the manifest's folder"),
        ("raw/../../a.jsonl", "leads out of the manifest's folder"),
        ("raw\\..\\..\\a.jsonl", "leads out of the manifest's folder"),
        (".", "is the manifest's own folder"),
        ("a\u0000b", "holds a control character"),
        ("run.json", "is the manifest itself"),
    ],
)
def test_a_raw_path_that_leads_elsewhere_is_refused(
    blank: dict[str, Any], tmp_path: Path, given_path: str, sentence: str
) -> None:
    blank["artifact"]["raw"] = [{"path": given_path}]
    text = refused_document(tmp_path, blank)
    assert "run.json: artifact.raw[0].path " in text
    assert sentence in text


def test_a_raw_path_that_leads_out_by_a_link_is_refused(blank: dict[str, Any], tmp_path: Path) -> None:
    outside = tmp_path / "outside.jsonl"
    outside.touch()
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "a.jsonl").symlink_to(outside)
    blank["artifact"]["raw"] = [{"path": "a.jsonl"}]
    assert "leads out of the manifest's folder by a link" in refused_document(folder, blank)


def test_one_file_under_two_spellings_is_refused(blank: dict[str, Any], tmp_path: Path) -> None:
    blank["artifact"]["raw"] = [{"path": "raw/a.jsonl"}, {"path": "raw/./b/../a.jsonl"}]
    assert 'artifact.raw[1].path "raw/./b/../a.jsonl" is listed twice' in refused_document(tmp_path, blank)


def test_paths_may_use_dots_that_stay_inside(
    blank: dict[str, Any], at: Callable[[dict[str, Any]], Manifest], tmp_path: Path
) -> None:
    options = {"side": "engine"}
    blank["artifact"]["raw"] = [{"path": "raw/../a b.jsonl", "bytes": 3.0, "options": options}]
    (file,) = at(blank).raw_files()
    assert file.path == tmp_path.resolve() / "a b.jsonl"
    assert (file.given, file.bytes, file.sha256) == ("raw/../a b.jsonl", 3, None)
    assert file.options == (("side", "engine"),)


@given(st.lists(st.sampled_from(["..", ".", "", "a", "b.jsonl", "~", "\\", "/", "C:"]), max_size=6).map("/".join))
def test_no_spelling_of_a_path_reaches_outside(path: str) -> None:
    folder = Path(os.path.realpath("/nowhere/run"))
    try:
        found = inside(folder, path)
    except ValueError:
        return
    assert found != folder
    assert found.is_relative_to(folder)


@given(st.recursive(st.none() | st.booleans() | st.text(), st.lists, max_leaves=4))
def test_a_field_of_another_kind_is_refused_by_its_name(value: object) -> None:
    with pytest.raises(ManifestError, match=r"^new manifest: workload\.deadline_s"):
        skeleton({"workload.deadline_s": value})


@given(st.floats() | st.integers())
def test_a_number_is_taken_where_it_is_one_for_every_reader(value: int | float) -> None:  # noqa: PYI041 (both)
    fits = math.isfinite(value) and value > 0 and (not isinstance(value, int) or value < 2**53)
    with nullcontext() if fits else pytest.raises(ManifestError, match=r"workload\.deadline_s"):
        assert skeleton({"workload.deadline_s": value})["workload"]["deadline_s"] == value
