"""The logic: its text, its meaning, its automata."""
