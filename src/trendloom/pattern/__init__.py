"""A pattern becomes an automaton that is deterministic over variables."""
