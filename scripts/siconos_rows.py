"""Siconos' solvers on the snapshots of an experiment; called by scripts/compare_siconos --experiment ID, which says how."""

import argparse
import sys
from pathlib import Path

from signorini_problems import siconos
from signorini_problems.snapshots import ProblemError


def main():
    parser = argparse.ArgumentParser(prog="scripts/compare_siconos", description=siconos.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--experiment", required=True, metavar="ID", help="a finished experiment (folder of OUT)")
    parser.add_argument("--out", type=Path, default=Path("results/out"), help="folder of the results (default: results/out)")
    parser.add_argument("--solvers", default=";".join(siconos.SOLVERS), metavar="NAME;NAME", help=f"default: all of {'; '.join(siconos.SOLVERS)}")
    options = parser.parse_args()
    names = options.solvers.split(";")
    unknown = [name for name in names if name not in siconos.SOLVERS]
    if unknown:
        parser.error(f"--solvers: unknown '{unknown[0]}' (known: {'; '.join(siconos.SOLVERS)})")
    try:
        siconos.write(options.out / options.experiment, names)
    except (ProblemError, OSError) as error:
        print(f"compare_siconos: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
