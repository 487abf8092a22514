"""Trace analysis and SLO reports for LLM serving."""

__version__ = "0.1.0"
