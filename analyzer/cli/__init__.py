"""The command line: one module per command group; parse, one call, print."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from analyzer import __version__, diagnostics
from analyzer.cli import asking, exporting, ingesting, manifests, reporting, timelines, verifying, viewing
from analyzer.errors import AnalyzerError, ExitCode, SourceError, UsageFault

if TYPE_CHECKING:
    from collections.abc import Sequence


def _as_ours(fault: BaseException) -> AnalyzerError | None:
    """A fault of use, of click's or of the system's in our form: one line, and what to do. None for a bug."""
    if isinstance(fault, AnalyzerError):
        return fault
    if isinstance(fault, click.ClickException):
        context = fault.ctx if isinstance(fault, click.UsageError) else None
        where = context.command_path if context else "analyze"
        return UsageFault(fault.format_message().rstrip("."), f"`{where} --help` shows what it takes")
    if isinstance(fault, OSError):
        what = fault.filename or "standard output"
        return SourceError(f"{what} cannot be read or written: {fault.strerror or fault}")
    return None


def _told(fault: BaseException) -> int:
    """Say what has gone wrong; the exit code."""
    if isinstance(fault, OSError):
        # Nothing that is still to be written must come up again when Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if isinstance(fault, BrokenPipeError):
        return ExitCode.OK  # the reader of our output has seen enough
    if isinstance(fault, (click.Abort, KeyboardInterrupt)):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # once is enough
        diagnostics.note("interrupted; what was finished stays, nothing is half-written")
        return ExitCode.INTERRUPTED
    if isinstance(fault, click.exceptions.NoArgsIsHelpError):
        fault.show()
        return ExitCode.USAGE
    ours = _as_ours(fault)
    if ours is None:
        diagnostics.bug(fault)
        return ExitCode.BUG
    diagnostics.error(ours)
    return ours.exit_code


def _pass_over(unraisable: sys.UnraisableHookArgs) -> None:
    """Ctrl-C that is heard while a generator is closed can go nowhere: what closes it is ending already."""
    if not isinstance(unraisable.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(unraisable)


class _Group(click.Group):
    """Commands whose faults are one line on stderr and an exit code."""

    def main(self, args: Sequence[str] | None = None, *_: Any, **__: Any) -> Any:
        debug = False
        # A process that was started with its streams closed has nobody to talk to.
        sys.stdout = sys.stdout or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 (lasts as long as the process)
        sys.stderr = sys.stderr or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
        sys.unraisablehook = _pass_over
        try:
            with self.make_context("analyze", list(sys.argv[1:] if args is None else args)) as context:
                debug = bool(context.params.get("debug"))
                self.invoke(context)
            sys.stdout.flush()
        except click.exceptions.Exit as ended:
            sys.exit(ended.exit_code)
        except (Exception, KeyboardInterrupt) as fault:
            if debug and not isinstance(fault, (click.ClickException, click.Abort, KeyboardInterrupt, BrokenPipeError)):
                raise
            sys.exit(_told(fault))
        sys.exit(ExitCode.OK)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="analyze", message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, help="Show the traceback of a fault.")
@click.option("--trace-sql", is_flag=True, help="Print each SQL statement to stderr.")
@click.pass_context
def main(context: click.Context, debug: bool, trace_sql: bool) -> None:  # noqa: ARG001 (the group reads debug itself)
    """Say, with evidence, whether a serving promise was kept.

    \b
    Example:
      analyze ingest traces/
      analyze sql "FROM percentile WHERE metric = 'ttft'"
      analyze report --manifest run.json
    """
    context.obj = diagnostics.statement if trace_sql else None


ingesting.sources.add_command(verifying.verify)
ingesting.sources.add_command(verifying.crosswalk)
for command in (
    ingesting.ingest,
    ingesting.sources,
    asking.sql,
    timelines.timeline,
    viewing.audit,
    viewing.clocks,
    manifests.manifest,
    manifests.freeze,
    manifests.seal,
    reporting.report,
    exporting.export,
):
    main.add_command(command)
