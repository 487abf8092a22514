"""AIPerf: its export of requests, its export of every message, and the summary beside them."""
