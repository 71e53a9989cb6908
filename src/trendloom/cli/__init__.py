"""The command line: the only place that prints.

One file per command. Everything heavy is imported inside the commands, so that `--help` is instant.
"""
