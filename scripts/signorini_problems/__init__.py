"""The contact problems of a finished experiment, one by one: exported, described in numbers, and handed to other solvers."""
