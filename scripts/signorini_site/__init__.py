"""The documentation as a website: docs/, the headers and the Python package through Sphinx (scripts/docs)."""
