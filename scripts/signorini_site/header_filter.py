"""INPUT_FILTER of doxygen: header_filter.py FILE.h prints the header as doxygen is to read it."""

import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from header_text import for_doxygen  # noqa: E402

if __name__ == "__main__":
    sys.stdout.write(for_doxygen(Path(sys.argv[1]).read_text(encoding="utf-8")))
