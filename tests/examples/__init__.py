"""The papers' queries under `examples/`, and what the tests of all hosts know of them."""
