"""A query becomes an immutable plan: what to keep, at which grain."""
