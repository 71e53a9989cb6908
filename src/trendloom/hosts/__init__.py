"""Where events come from and results go: one package per host."""
