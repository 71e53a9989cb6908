"""Kleene sub-patterns that queries share, burst by burst (HAMLET, SIGMOD'21).

1. `member` reads a plan: can its query take part, and what does a burst of each type do to it?
2. `template` merges all members; `picture` shows who shares what (§3.1).
3. `joint` makes one scan of the members' scans.
4. `bursts` cuts the events into graphlets and decides for each who shares it (§4).
5. `execute` evaluates them: every query's results per partition and window, as the engine has them;
   `pairs` those of queries with a condition inside E+.
6. `run` takes batches and gives each query's result table.
"""
