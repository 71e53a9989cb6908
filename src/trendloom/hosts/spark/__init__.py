"""The Spark host: events from DataFrames and streams, the same engine inside the workers.

`columns` turns a plan's `Scan` into Spark SQL expressions, `arrive` turns what a worker receives
into the engine's types.
Nothing is imported here: pyspark is loaded when a DataFrame is given, not with the package.
"""
