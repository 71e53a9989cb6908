"""Algorithms of the literature, compiled as the engine is, for `(SEQ(A+, B))+` written out by hand.

`streams.py` says what they are given. Each returns one count per group, as an integer or as its
logarithm; whoever times one compares its counts with the engine's first.
"""
