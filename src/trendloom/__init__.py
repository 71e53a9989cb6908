"""Trendloom: aggregate every match of a Kleene pattern without building the matches."""
