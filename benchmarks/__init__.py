"""What Trendloom claims about speed and memory, measured: `python -m benchmarks`.

One file per claim, named after what it shows. Each has `run(size)`, which returns its figures, and
`draw(figures)`, which returns a chart of them.
"""
