"""Tests that lose workers: a master and two workers, each a process of its own."""
