"""`analyze manifest`, `analyze freeze`, `analyze seal`."""

from __future__ import annotations

from pathlib import Path

import click

from analyzer import diagnostics
from analyzer.cli import options

_POST_HOC = click.option("--post-hoc", metavar="WHY", help="Why the contract was changed after it was frozen.")


@click.group()
def manifest() -> None:
    """Begin a run manifest.

    \b
    Example:
      analyze manifest new --run night-7 --out run.json
    """


@manifest.command()
@options.store
@click.option("--run", "run_name", metavar="NAME", help="The run to describe; needed where the store holds several.")
@click.option("--out", default="run.json", show_default=True, metavar="FILE", help="Where to write it.")
@click.pass_context
def new(context: click.Context, store: str, run_name: str | None, out: str) -> None:
    """Write a manifest for a run of the store: what the data shows is filled in, the rest says it is unknown.

    \b
    Example:
      analyze ingest traces/ && analyze manifest new --out traces/run.json
    """
    from analyzer.jobs import sealing

    document = sealing.begin(store, run_name, Path(out), context.obj)
    click.echo(out)
    diagnostics.note(
        f"{document['name']}: {len(document['artifact']['raw'])} raw files listed; fill in what is unknown, write the"
        f" promise into measurement.slo, then `analyze seal {out}`"
    )


@click.command()
@click.argument("manifest", metavar="RUN.json")
@_POST_HOC
def freeze(manifest: str, post_hoc: str | None) -> None:
    """Fix what was promised before the run: write the hash of the contract into the manifest.

    \b
    Example:
      analyze freeze run.json
    """
    from analyzer.jobs import sealing

    click.echo(sealing.freeze(manifest, post_hoc))


@click.command()
@click.argument("manifest", metavar="RUN.json")
@_POST_HOC
@click.option("--no-promise", is_flag=True, help="Seal a run for which nothing was promised.")
@click.pass_context
def seal(context: click.Context, manifest: str, post_hoc: str | None, no_promise: bool) -> None:
    """Bind the manifest to its raw files after the run: path, bytes, sha256 and rows of each.

    \b
    Example:
      analyze seal run.json
    """
    from analyzer.jobs import sealing

    document = sealing.seal(manifest, post_hoc=post_hoc, no_promise=no_promise, trace=context.obj)
    click.echo(document["artifact"]["run_id"])
