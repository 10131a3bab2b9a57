"""made_by.json: the program that made a dataset and the processor that it ran on. No checksum covers it."""

import json
import os

from signorini_dataset.program import read_json, run


def text(program):
    """JSON. SIGNORINI_ISA is what the environment asks for; where it is empty the program takes the best that the processor has."""
    lines = run(program, "--version").out.splitlines()
    processor = next((line.split(None, 1)[1].strip() for line in lines if line.split()[:1] == ["processor"]), "unknown")
    made_by = {"program": read_json(program, "--version"), "processor": processor, "SIGNORINI_ISA": os.environ.get("SIGNORINI_ISA", "")}
    return json.dumps(made_by, indent=1) + "\n"
