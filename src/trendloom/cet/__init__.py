"""Complete event trends: the graph that holds them, and the ways to walk it within a memory limit.

A run (one partition in one window) goes this road, a file each: `feed` (events → runs) → `graphs`
(run → graph) → `counting` (how many) → `choosing` (which algorithm, where to cut) → `detection`
(graph → paths) → `rows` (paths → record batches). `listing` is the whole of it.
"""
