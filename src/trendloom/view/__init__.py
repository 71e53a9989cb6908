"""Pictures of results: text tables, bars for a terminal, HTML and charts.

Everything here takes an Arrow table and gives text or a chart; nothing prints. altair is imported
by `chart` only, and only when a chart is asked for.
"""
