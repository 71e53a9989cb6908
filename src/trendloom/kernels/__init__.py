"""Compiled code only: arrays in, arrays out, no policy, no input or output."""
