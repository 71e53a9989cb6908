"""The local host: events from files and memory, through DuckDB and Arrow.

`sources` opens anything tabular, `scan` delivers the sorted batches of `trendloom.plan.scan`,
`host` runs the engine over them, `sinks` writes the result.
Nothing is imported here: DuckDB is loaded when events are opened, not with the package.
"""
