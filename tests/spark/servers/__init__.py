"""Real servers for the tests: each a process on 127.0.0.1 that dies with the tests."""
