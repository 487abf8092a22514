"""Freeze, seal and verify: what binds a run to its contract and its bytes, and what tells when it breaks."""

from __future__ import annotations

import hashlib
import json
import os
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzer.errors import DriftError, ExitCode, ManifestError, SourceError, UsageFault
from analyzer.manifest import (
    Manifest,
    RawFacts,
    contract_sha256,
    freeze,
    hash_file,
    load,
    run_id,
    seal,
    skeleton,
    verify,
    write,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    At = Callable[[dict[str, Any]], Manifest]

NOW = datetime(2026, 11, 30, 11, 2, 3, 999, tzinfo=UTC)
FACTS = {"raw/a.jsonl": RawFacts(3, None, None, "events"), "raw/b.jsonl": RawFacts(1, None, None, "events")}


def is_jsonl(path: Path) -> bool:
    return path.suffix == ".jsonl"


def sealed_again(manifest: Manifest, **more: Any) -> dict[str, Any]:
    return seal(manifest, FACTS, now=NOW, analyzer_version="0.1.0", **more)


def differences(manifest: Manifest) -> list[tuple[str, str, str]]:
    return [(d.path, d.what, d.likely) for d in verify(load(manifest.path), is_jsonl)]


def turned(value: Any) -> Any:
    """Give the same JSON with the keys of every object in reverse."""
    if isinstance(value, dict):
        return {key: turned(value[key]) for key in reversed(value)}
    return [turned(inner) for inner in value] if isinstance(value, list) else value


def test_the_contract_hash_depends_on_values_and_not_on_the_order_of_keys(blank: dict[str, Any]) -> None:
    before = contract_sha256(blank)
    assert contract_sha256(turned(blank)) == before
    assert contract_sha256({**blank, "why": "other", "artifact": {}}) == before
    blank["hardware"]["memory_gib"] = 16
    whole = contract_sha256(blank)
    assert whole != before
    blank["hardware"]["memory_gib"] = 16.0
    assert contract_sha256(blank) == whole


def test_the_contract_hash_is_sha256_over_canonical_json() -> None:
    layers = ("hardware", "measurement", "model", "runtime", "workload")
    canonical = "{" + ",".join(f'"{layer}":{{"a":1,"b":[0.5,"é"]}}' for layer in layers) + "}"
    document = {layer: {"b": [0.50, "é"], "a": 1.0} for layer in reversed(layers)}
    assert contract_sha256(document) == hashlib.sha256(canonical.encode()).hexdigest()


def test_freezing_writes_the_hash_and_freezing_again_changes_nothing(blank: dict[str, Any], at: At) -> None:
    frozen = at(freeze(at(blank), now=NOW))
    assert frozen.document["artifact"]["contract_sha256"] == contract_sha256(blank)
    assert freeze(frozen, now=NOW) == frozen.document
    assert "contract_sha256" not in blank["artifact"]


def test_a_contract_that_changed_after_freeze_needs_a_reason_which_stays(blank: dict[str, Any], at: At) -> None:
    frozen = freeze(at(blank), now=NOW)
    before = frozen["artifact"]["contract_sha256"]
    frozen["model"]["id"] = "other"
    with pytest.raises(DriftError, match="contract has changed since frozen") as caught:
        freeze(at(frozen), now=NOW)
    assert caught.value.exit_code == ExitCode.DIFFERS
    after = freeze(at(frozen), now=NOW, post_hoc="wrong model named")["artifact"]
    assert after["contract_sha256"] == contract_sha256(frozen) != before
    assert after["post_hoc"] == [
        {
            "why": "wrong model named",
            "when": "2026-11-30T11:02:03Z",
            "contract_before": before,
            "contract_after": after["contract_sha256"],
        }
    ]


def test_a_reason_without_a_change_and_a_change_without_a_real_reason_are_refused(
    blank: dict[str, Any], at: At
) -> None:
    frozen = freeze(at(blank), now=NOW)
    with pytest.raises(UsageFault, match="has not changed"):
        freeze(at(frozen), now=NOW, post_hoc="why not")
    frozen["model"]["id"] = "other"
    with pytest.raises(UsageFault, match="reason is empty"):
        freeze(at(frozen), now=NOW, post_hoc=" ")


def test_a_seal_records_every_raw_file(sealed: Manifest, tmp_path: Path) -> None:
    content = (tmp_path / "raw" / "a.jsonl").read_bytes()
    assert sealed.is_sealed
    assert sealed.artifact["raw"] == [
        {
            "path": "raw/a.jsonl",
            "bytes": 27,
            "sha256": hashlib.sha256(content).hexdigest(),
            "rows": 3,
            "first_ns": "1796069308473857694",
            "last_ns": "1796069314124048277",
            "source": "events",
        },
        {
            "path": "raw/b.jsonl",
            "bytes": 9,
            "sha256": hashlib.sha256(b'{"n": 4}\n').hexdigest(),
            "rows": 1,
            "source": "events",
        },
    ]
    assert sealed.artifact["created"] == "2026-11-30T11:02:03Z"
    assert sealed.artifact["analyzer_version"] == "0.1.0"
    assert differences(sealed) == []


def test_the_run_id_is_over_contract_and_files_in_order_of_path(sealed: Manifest) -> None:
    raw = [{k: e[k] for k in ("bytes", "path", "sha256")} for e in sealed.artifact["raw"]]
    told = {"contract_sha256": sealed.artifact["contract_sha256"], "raw": raw}
    canonical = json.dumps(told, separators=(",", ":"), sort_keys=True)
    assert sealed.run_id == hashlib.sha256(canonical.encode()).hexdigest()[:16]
    sealed.artifact["raw"].reverse()
    assert run_id(sealed.document) == sealed.run_id


def test_the_instant_of_a_seal_is_utc_and_needs_a_zone(blank: dict[str, Any], at: At, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").touch()
    facts = {"a.jsonl": RawFacts(0, None, None, "events")}
    east = NOW.astimezone(tz=None) + timedelta(hours=1)
    assert seal(at(blank), facts, now=east, analyzer_version="1")["artifact"]["created"] == "2026-11-30T12:02:03Z"
    with pytest.raises(ValueError, match="zone"):
        seal(at(blank), facts, now=datetime(2026, 1, 1), analyzer_version="1")  # noqa: DTZ001 (the point)


def test_sealing_the_same_bytes_again_keeps_the_run_id(sealed: Manifest) -> None:
    assert sealed_again(sealed)["artifact"]["run_id"] == sealed.run_id


def test_sealing_again_over_other_bytes_is_refused(sealed: Manifest, tmp_path: Path) -> None:
    (tmp_path / "raw" / "b.jsonl").write_bytes(b'{"n": 5}\n')
    with pytest.raises(DriftError, match=r"sealed over other bytes than raw/b\.jsonl now has"):
        sealed_again(sealed)


def test_adding_a_file_to_a_sealed_run_is_refused(sealed: Manifest, tmp_path: Path) -> None:
    (tmp_path / "raw" / "c.jsonl").touch()
    facts = {**FACTS, "raw/c.jsonl": RawFacts(0, None, None, "events")}
    with pytest.raises(DriftError, match=r"raw/c\.jsonl"):
        seal(sealed, facts, now=NOW, analyzer_version="0.1.0")


def test_a_contract_changed_after_seal_takes_a_new_run_id_and_verifies(sealed: Manifest, at: At) -> None:
    sealed.document["model"]["id"] = "other"
    changed = at(sealed.document)
    with pytest.raises(DriftError):
        sealed_again(changed)
    again = at(sealed_again(changed, post_hoc="wrong model named"))
    assert again.run_id != sealed.artifact["contract_sha256"][:16]
    assert again.document["artifact"]["post_hoc"][0]["why"] == "wrong model named"
    assert differences(again) == []
    sealed.document["model"]["id"] = "third"
    assert differences(at(freeze(at(sealed.document), now=NOW, post_hoc="and again"))) == []


def test_a_listed_file_that_nothing_has_read_is_not_sealed(blank: dict[str, Any], at: At) -> None:
    blank["artifact"]["raw"] = [{"path": "a.jsonl"}]
    with pytest.raises(ManifestError, match=r"lists a\.jsonl, which nothing has read"):
        seal(at(blank), {}, now=NOW, analyzer_version="1")


def test_a_run_without_raw_files_is_not_sealed(blank: dict[str, Any], at: At) -> None:
    with pytest.raises(ManifestError, match="nothing to seal"):
        seal(at(blank), {}, now=NOW, analyzer_version="1")


def test_a_file_that_is_gone_or_no_file_or_outside_is_not_sealed(blank: dict[str, Any], at: At, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    for path, error in (("gone.jsonl", SourceError), ("pipe.jsonl", SourceError), ("../a", ManifestError)):
        with pytest.raises(error):
            seal(at(blank), {path: RawFacts(0, None, None, "events")}, now=NOW, analyzer_version="1")


def test_a_file_that_changed_since_it_was_read_is_not_sealed(blank: dict[str, Any], at: At, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"now")
    read = RawFacts(1, None, None, "events", sha256=hashlib.sha256(b"then").hexdigest())
    with pytest.raises(DriftError, match="has changed since it was read"):
        seal(at(blank), {"a.jsonl": read}, now=NOW, analyzer_version="1")


def test_a_file_that_is_still_being_written_is_not_sealed(blank: dict[str, Any], at: At, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"one\n")

    facts = {"a.jsonl": RawFacts(1, None, None, "events")}

    def grow(done: int, _file: str) -> None:
        if done < 10:
            with path.open("ab") as file:
                file.write(b"more")

    with pytest.raises(SourceError, match="still being written"):
        seal(at(blank), facts, now=NOW, analyzer_version="1", progress=grow)


def test_an_appended_line_grew(sealed: Manifest, tmp_path: Path) -> None:
    with (tmp_path / "raw" / "a.jsonl").open("ab") as file:
        file.write(b'{"n": 9}\n')
    assert differences(sealed) == [("raw/a.jsonl", "changed", "grew")]
    (difference,) = verify(sealed, is_jsonl)
    assert difference.sentence.startswith("raw/a.jsonl: changed (grew): expected 27 bytes, sha256 ")
    assert ", found 36 bytes, sha256 " in difference.sentence


def test_a_cut_file_is_truncated(sealed: Manifest, tmp_path: Path) -> None:
    os.truncate(tmp_path / "raw" / "a.jsonl", 20)
    assert differences(sealed) == [("raw/a.jsonl", "changed", "truncated")]


def test_one_flipped_byte_is_replaced(sealed: Manifest, tmp_path: Path) -> None:
    path = tmp_path / "raw" / "a.jsonl"
    path.write_bytes(path.read_bytes().replace(b"2", b"3"))
    assert differences(sealed) == [("raw/a.jsonl", "changed", "replaced")]


def test_a_longer_file_with_another_beginning_is_replaced(sealed: Manifest, tmp_path: Path) -> None:
    path = tmp_path / "raw" / "a.jsonl"
    path.write_bytes(b"x" + path.read_bytes())
    assert differences(sealed) == [("raw/a.jsonl", "changed", "replaced")]


def test_a_folder_in_place_of_a_file_is_replaced(sealed: Manifest, tmp_path: Path) -> None:
    (tmp_path / "raw" / "a.jsonl").unlink()
    (tmp_path / "raw" / "a.jsonl").mkdir()
    assert differences(sealed) == [("raw/a.jsonl", "changed", "replaced")]


def test_a_removed_file_is_missing(sealed: Manifest, tmp_path: Path) -> None:
    (tmp_path / "raw" / "b.jsonl").unlink()
    assert differences(sealed) == [("raw/b.jsonl", "missing", "missing")]


def test_an_unlisted_file_that_a_source_reads_is_extra(sealed: Manifest, tmp_path: Path) -> None:
    (tmp_path / "raw" / "more").mkdir()
    (tmp_path / "raw" / "more" / "c.jsonl").touch()
    (tmp_path / "raw" / "notes.txt").touch()
    (tmp_path / ".analyze").mkdir()
    (tmp_path / ".analyze" / "d.jsonl").touch()
    (tmp_path / "latest.jsonl").symlink_to(tmp_path / "raw" / "a.jsonl")
    assert differences(sealed) == [("raw/more/c.jsonl", "extra", "extra")]


def test_a_file_that_another_manifest_there_lists_is_not_extra(
    sealed: Manifest, blank: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "raw" / "c.jsonl").touch()
    blank["artifact"]["raw"] = [{"path": "raw/c.jsonl"}, {"path": "../raw/d.jsonl"}, 7, {}]
    write(blank, tmp_path / "other.json")
    assert differences(sealed) == []
    (tmp_path / "other.json").write_text('{"manifest": 1, "artifact": {"raw": [{"path": "raw/c')
    assert differences(sealed) == [("raw/c.jsonl", "extra", "extra")]


def test_an_edited_contract_and_an_edited_seal_are_told_apart(sealed: Manifest, at: At) -> None:
    sealed.document["model"]["id"] = "other"
    assert differences(at(sealed.document)) == [("run.json", "contract", "edited after it was frozen")]
    sealed.artifact["contract_sha256"] = contract_sha256(sealed.document)
    assert differences(at(sealed.document)) == [("run.json", "run_id", "seal edited by hand")]


def test_an_unsealed_manifest_is_one_difference(blank: dict[str, Any], at: At, tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").touch()
    assert differences(at(blank)) == [("run.json", "unsealed", "never sealed")]
    blank["artifact"]["raw"] = [{"path": "a.jsonl"}]
    (difference,) = verify(at(blank), is_jsonl)
    assert difference.actual == "no sha256 of a.jsonl"


def test_progress_counts_the_bytes_of_all_files(sealed: Manifest) -> None:
    heard: list[tuple[int, str]] = []
    verify(sealed, is_jsonl, progress=lambda done, file: heard.append((done, file)))
    assert heard == [(27, "raw/a.jsonl"), (36, "raw/b.jsonl")]


@given(content=st.binary(max_size=50), first=st.integers(0, 60))
def test_a_digest_of_the_beginning_is_that_of_the_beginning(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, first: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "hashed"
    path.write_bytes(content)
    digest = hash_file(path, first=first)
    assert (digest.bytes, digest.sha256) == (len(content), hashlib.sha256(content).hexdigest())
    begun = hashlib.sha256(content[:first]).hexdigest() if first <= len(content) else None
    assert digest.first_sha256 == begun


def test_a_file_of_several_pieces_is_hashed_across_them(tmp_path: Path) -> None:
    content = os.urandom(5 * 2**19)
    (tmp_path / "a").write_bytes(content)
    for first in (2**20 - 1, 2**20, 2**20 + 1):
        digest = hash_file(tmp_path / "a", first=first)
        assert digest.sha256 == hashlib.sha256(content).hexdigest()
        assert digest.first_sha256 == hashlib.sha256(content[:first]).hexdigest()


def test_writing_keeps_order_and_mode_and_leaves_no_draft(blank: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    blank["why"] = "Grüße"
    write(blank, path)
    path.chmod(0o640)
    write(turned(blank), path)
    text = path.read_text(encoding="utf-8")
    assert text.endswith("}\n")
    assert "Grüße" in text
    assert list(json.loads(text)) == list(reversed(blank))
    assert path.stat().st_mode & 0o777 == 0o640
    assert [p.name for p in tmp_path.iterdir()] == ["run.json"]


def test_a_write_that_fails_leaves_the_old_file(
    blank: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.json"
    write(blank, path)
    before = path.read_bytes()

    def full(_handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ManifestError, match="cannot be written: No space left on device"):
        write({**blank, "name": "other"}, path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["run.json"]
    with pytest.raises(ManifestError, match="cannot be written"):
        write(blank, tmp_path / "no folder" / "run.json")


def test_a_skeleton_seals_and_loads(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b"{}\n")
    document = skeleton({"artifact.raw": [{"path": "a.jsonl", "options": {"side": "engine"}}]})
    write(document, tmp_path / "run.json")
    facts = {"a.jsonl": RawFacts(1, 5, 6, "events")}
    write(seal(load(tmp_path / "run.json"), facts, now=NOW, analyzer_version="1"), tmp_path / "run.json")
    (file,) = load(tmp_path / "run.json").raw_files()
    assert (file.bytes, file.rows, file.source) == (3, 1, "events")
    assert file.options == (("side", "engine"),)
