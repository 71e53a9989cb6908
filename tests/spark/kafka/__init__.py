"""Tests that read from and write to a real Kafka broker."""
