"""What can go wrong and be said in one sentence: what, where, and what to do."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What a finished command tells the shell."""

    OK = 0
    BROKEN = 1
    USAGE = 2
    UNREADABLE = 3
    DIFFERS = 4
    CANNOT_TELL = 5
    NOT_COMPARABLE = 6
    BUG = 70
    BUSY = 75
    INTERRUPTED = 130


class AnalyzerError(Exception):
    """A fault of input or use. `message` says what and where, `hint` what to do about it."""

    exit_code = ExitCode.USAGE

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message


class UsageFault(AnalyzerError):  # noqa: N818 (a fault of use, said so)
    """A command was asked for something that it cannot mean."""


class ManifestError(AnalyzerError):
    """A run manifest cannot be read or does not say what it must."""


class QueryError(AnalyzerError):
    """A query of the user's does not run on the store."""


class SourceError(AnalyzerError):
    """An input file cannot be read as what it is."""

    exit_code = ExitCode.UNREADABLE


class DriftError(AnalyzerError):
    """Raw data or contract differ from what the manifest has sealed."""

    exit_code = ExitCode.DIFFERS


class EvidenceError(AnalyzerError):
    """The data lacks what the answer needs."""

    exit_code = ExitCode.CANNOT_TELL


class StoreError(AnalyzerError):
    """The store file is not one of ours, or not of this version."""

    exit_code = ExitCode.UNREADABLE


class StoreBusyError(AnalyzerError):
    """Another process holds the store."""

    exit_code = ExitCode.BUSY
