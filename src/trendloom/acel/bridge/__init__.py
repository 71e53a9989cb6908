"""From trend queries to formulas: `from_trends` is the door, this is what stands behind it."""
