"""Figures, tables and claims from the files that `signorini run` writes. Reads results, never computes any."""
