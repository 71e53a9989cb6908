"""Tests that kill what runs, and look whether any row is lost or there twice."""
