"""The local host: events from files and memory, through DuckDB and Arrow.

`sources` opens anything tabular, `columns` and `times` check what the caller named, `scan`
delivers the sorted batches of `trendloom.plan.scan`, `having` filters and orders a result,
`sinks` writes it.
Nothing is imported here: DuckDB is loaded when events are opened, not with the package.
"""
