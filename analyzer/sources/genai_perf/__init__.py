"""GenAI-Perf: the export of Perf Analyzer, which it makes its figures from."""
