"""`analyze report`."""

from __future__ import annotations

import shlex

import click

from analyzer.cli import options, printing
from analyzer.errors import DriftError


@click.command()
@click.option("--manifest", "manifest_path", required=True, metavar="RUN.json", help="The sealed manifest of the run.")
@click.option("--out", metavar="FILE.html", help="Where to write the page; beside the manifest by default.")
@click.option(
    "--store", envvar="ANALYZE_STORE", metavar="FILE",
    help="A store to read, and to put what it lacks into; by default one of the manifest's own. Also ANALYZE_STORE.",
)  # fmt: skip
@options.rules
@options.as_json
@click.pass_context
def report(
    context: click.Context,
    manifest_path: str,
    out: str | None,
    store: str | None,
    rule_paths: tuple[str, ...],
    json_wanted: bool,
) -> None:
    """Write the report of a run, after every raw file was found to be the one that was sealed.

    Writes FILE.html, which opens by itself, and FILE.summary.json with every number in it. Exits with 4, without a
    report, when a raw file or the contract differs from the manifest.

    \b
    Example:
      analyze report --manifest run.json --out report.html
    """
    from analyzer.jobs import reporting

    declared, differing = reporting.differences(manifest_path)
    if differing:
        columns = ("path", "what", "expected", "actual", "likely")
        printing.show(columns, [[getattr(d, name) for name in columns] for d in differing], json_wanted=json_wanted)
        many = "one difference" if len(differing) == 1 else f"{len(differing)} differences"
        stale = reporting.stale_page(declared, out)
        raise DriftError(
            f"there is no report: {many} between {manifest_path} and what lies on disk{stale}",
            _advice(differing[0].what, manifest_path),
        )
    written = reporting.write(declared, store_path=store, out=out, rules=rule_paths, trace=context.obj)
    rows = [("page", str(written.page)), ("summary", str(written.summary))]
    rows += [(f"promise {name}", verdict) for name, verdict in written.verdicts] or [("promise", "none was made")]
    printing.show(("what", "value"), rows, json_wanted=json_wanted)


def _advice(what: str, path: str) -> str:
    if what == "unsealed":
        return f"seal it first: `analyze seal {shlex.quote(path)}`"
    if what == "contract":
        return f'restore the contract, or say why it changed: `analyze seal --post-hoc "why" {shlex.quote(path)}`'
    return "restore the sealed files, or seal what is there now as a new run"
