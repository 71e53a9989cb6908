"""Runs a plan over a host's sorted batches. Knows no host."""
