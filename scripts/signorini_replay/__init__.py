"""Pages that show recordings in a browser: docs/replay.md."""
