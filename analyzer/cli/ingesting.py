"""`analyze ingest` and `analyze sources`."""

from __future__ import annotations

import shlex

import click

from analyzer import diagnostics
from analyzer.cli import options, printing
from analyzer.errors import SourceError, UsageFault

_COLUMNS = ("path", "source", "run", "records", "kept", "set_aside", "refused", "duplicates", "dropped")
_SHOWN = 5
_POSITIVE = click.IntRange(min=1)
# Deeper than this, what reads JSON gives up by itself.
_DEPTH = click.IntRange(min=8, max=400)


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@options.store
@click.option("--run", "run_name", metavar="NAME", help="Name of the run that the files belong to.")
@click.option("--source", metavar="NAME", help="Read every file with this source instead of recognising it.")
@click.option("--map", "mapping", metavar="TOML", help="Read every file through this mapping of its columns.")
@options.rules
@click.option("--built-in-rules", is_flag=True, help="Forget the rules that an earlier --rules gave this store.")
@click.option("--keep-content", is_flag=True, help="Keep prompts, answers, headers and stack traces of spans.")
@click.option(
    "--drop",
    multiple=True,
    metavar="NAME",
    help="Leave this attribute of spans out as well; * stands for anything. May be given again.",
)
@click.option("--max-line-bytes", type=_POSITIVE, metavar="N", help="Refuse a longer line.  [default: 64 MB]")
@click.option("--max-document-bytes", type=_POSITIVE, metavar="N", help="Refuse a larger document.  [default: 256 MB]")
@click.option("--max-depth", type=_DEPTH, metavar="N", help="Refuse deeper nesting.  [default: 256]")
@click.option("--strict", is_flag=True, help="Exit with 3 when a record was refused.")
@options.as_json
@click.pass_context
def ingest(
    context: click.Context,
    paths: tuple[str, ...],
    store: str,
    run_name: str | None,
    source: str | None,
    mapping: str | None,
    rule_paths: tuple[str, ...],
    built_in_rules: bool,
    keep_content: bool,
    drop: tuple[str, ...],
    max_line_bytes: int | None,
    max_document_bytes: int | None,
    max_depth: int | None,
    strict: bool,
    json_wanted: bool,
) -> None:
    """Read traces, event logs and load generators' files into the store.

    A folder is read whole, each file by the source that knows it. The same bytes again change nothing; a file that
    changed replaces its rows. Prints the ledger: records = kept + set aside + refused + duplicates.

    \b
    Example:
      analyze ingest traces/
      analyze ingest --run night-7 client.jsonl spans.jsonl --store night.duckdb
      analyze ingest --run night-7 --map columns.toml results.csv
    """
    from analyzer.jobs import ingesting

    if rule_paths and built_in_rules:
        raise UsageFault("--rules and --built-in-rules exclude each other", "give one of them")
    limits = ingesting.Limits(max_line_bytes, max_document_bytes, max_depth)
    how = ingesting.How(run_name, source, keep_content, drop, limits, mapping)
    rules = rule_paths if rule_paths or built_in_rules else None
    ledger = ingesting.run(paths, store, how=how, rules=rules, trace=context.obj)
    rows = [[row[name] for name in _COLUMNS] for row in ledger.rows]
    printing.show(_COLUMNS, rows, json_wanted=json_wanted)
    for row in ledger.rows:
        if row["note"]:
            diagnostics.note(f"{row['path']}: {row['note']}")
    if ledger.unchanged:
        diagnostics.note(f"in the store already, byte for byte: {ledger.unchanged} of {len(ledger.rows)} files")
    if ledger.unknown:
        named = ", ".join(ledger.unknown[:_SHOWN]) + (" ..." if len(ledger.unknown) > _SHOWN else "")
        diagnostics.note(f"set aside, no source knows them ({len(ledger.unknown)}): {named}")
    for path, why in ledger.lookalikes[:_SHOWN]:
        diagnostics.note(f"{path}: {why}")
    for refusal in ledger.refusals:
        diagnostics.note(f"refused: {refusal['source_file']}, {refusal['position']}: {refusal['reason']}")
    if ledger.refusals:
        total = sum(row["refused"] for row in ledger.rows)
        where = "" if store == options.DEFAULT_STORE else f" --store {shlex.quote(store)}"
        diagnostics.note(f"{total} records refused in all; `analyze sql{where} 'FROM refused'` lists them")
    if strict and ledger.refusals:
        raise SourceError("records were refused, and --strict allows none", "mend them, or leave --strict out")


@click.group(invoke_without_command=True)
@options.as_json
@click.pass_context
def sources(context: click.Context, json_wanted: bool) -> None:
    """List the formats that can be read.

    \b
    Example:
      analyze sources
      analyze sources suggest results.csv > columns.toml
    """
    if context.invoked_subcommand is not None:
        return
    from analyzer.jobs import listing

    printing.show(("source", "reads"), listing.sources(), json_wanted=json_wanted)


@sources.command()
@click.argument("file", metavar="FILE")
def suggest(file: str) -> None:
    """Draft a mapping for a file of no known format, from the names and values of its own columns.

    Each line says why it was suggested. What is not certain is written as a comment, for you to decide.

    \b
    Example:
      analyze sources suggest results.csv > columns.toml
      analyze ingest --map columns.toml results.csv
    """
    from analyzer.jobs import listing

    printing.plain(listing.suggestion(file))
