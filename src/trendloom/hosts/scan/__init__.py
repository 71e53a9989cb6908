"""What every host does with a plan's `Scan`: names, types and expressions, checked and bound once.

`columns` and `times` check what the caller named, `conditions` makes expressions safe, `projection`
turns a scan into expressions over the source's columns, `project` evaluates them over Arrow tables,
`folders` tells which files of a folder count, `having` filters and orders a result, `dress` gives
it its final form.
DuckDB binds the expressions, wherever they are evaluated: what fits is the same for every host.
"""
