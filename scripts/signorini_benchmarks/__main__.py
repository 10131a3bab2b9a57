import sys

from signorini_benchmarks import options

asked = options.parse(None)
if asked.targets:
    print("\n".join(program.binary for program in options.chosen_programs(asked)))
if asked.check or asked.targets:
    sys.exit(0)

from signorini_benchmarks.main import main  # noqa: E402  (needs what scripts/setup installs)

sys.exit(main())
