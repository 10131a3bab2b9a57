"""Runs the Google Benchmark programs and makes figures, tables and docs/speed.md from their JSON alone."""
