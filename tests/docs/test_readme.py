"""What the README shows is run: its SQL in the DuckDB shell, its commands by name."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest

from analyzer.cli import main
from analyzer.jobs import ingesting

CHECKOUT = Path(__file__).parents[2]
README = (CHECKOUT / "README.md").read_text(encoding="utf-8")
SQL = re.findall(r"```sql\n(.*?)```", README, re.DOTALL)
SHELL = Path(sys.executable).with_name("duckdb")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("readme") / "analyze.duckdb"
    samples = str(CHECKOUT / "sample_traces")
    ingesting.run([samples], str(path))
    return path


@pytest.mark.parametrize("block", SQL, ids=range(len(SQL)))
def test_every_sql_block_runs_in_the_duckdb_shell_and_gives_rows(store: Path, block: str) -> None:
    assert SHELL.exists(), "the duckdb-cli package belongs to the test group"
    for statement in filter(None, (part.strip() for part in re.sub(r"--.*", "", block).split(";"))):
        done = subprocess.run(
            [str(SHELL), "-readonly", "-csv", str(store), "-c", statement],
            capture_output=True, text=True, check=False, env={"HOME": str(store.parent), "PATH": os.environ["PATH"]},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert len(done.stdout.splitlines()) > 1, statement


def test_the_shell_shows_comments(store: Path) -> None:
    query = "SELECT comment FROM duckdb_views() WHERE view_name = 'percentile'"
    done = subprocess.run(
        [str(SHELL), "-readonly", "-csv", "-noheader", str(store), "-c", query],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "nearest-rank" in done.stdout


def commands(group: click.Group, prefix: str = "analyze") -> list[tuple[str, click.Command]]:
    found = []
    for name, command in group.commands.items():
        found.append((f"{prefix} {name}", command))
        if isinstance(command, click.Group):
            found += commands(command, f"{prefix} {name}")
    return found


@pytest.mark.parametrize(("name", "command"), commands(main), ids=lambda value: value if isinstance(value, str) else "")
def test_every_command_has_help_with_an_example(name: str, command: click.Command) -> None:
    text = command.help or ""
    assert "Example:" in text
    assert f"{name} " in text or f"{name}\n" in text + "\n"


def test_the_readme_names_only_commands_and_options_that_exist() -> None:
    known = {name for name, _ in commands(main)}
    for line in re.findall(r"^analyze .*$", README, re.MULTILINE):
        words = line.split("#")[0].split()
        name = " ".join(words[:3]) if " ".join(words[:3]) in known else " ".join(words[:2])
        assert name in known, line
        command = dict(commands(main))[name]
        options = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= options, line


def test_links_of_the_readme_lead_somewhere() -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (CHECKOUT / target).exists(), target
