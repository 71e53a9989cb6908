"""Other systems, each in its own process and all in an environment of their own.

They get the same events, and their counts are compared with the engine's before any number is told.
"""
