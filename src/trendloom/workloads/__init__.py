"""Many queries at once: one pass over the events, common prefixes computed once.

Knows plans and the engine, and no host: `hosts/local/workload.py` reads, sorts and feeds.
"""
