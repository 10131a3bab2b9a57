"""Builds of commits of this tree, in folders of their own under build/compare."""

import os
import subprocess

from signorini_benchmarks.runs import BenchmarkError


def git(root, *words):
    done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchmarkError(f"git {' '.join(words)}: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
    return done.stdout.strip()


def commit_of(root, name):
    try:
        return git(root, "rev-parse", "--verify", "--short=12", f"{name}^{{commit}}")
    except BenchmarkError as error:
        raise BenchmarkError(f"--compare {name}: no such commit; `git log --oneline` and `git tag` list them") from error


def has_program(source, program):
    return (source / "experiments" / "bench" / f"{program.binary}.cpp").is_file()


def build_commit(root, commit, programs, say):
    """(sources, build folder) of a commit with those of `programs` that it has, built in release."""
    source = root / "build" / "compare" / commit
    if not source.is_dir():
        git(root, "worktree", "prune")
        git(root, "worktree", "add", "--detach", "--force", str(source), commit)
    targets = [program.binary for program in programs if has_program(source, program)]
    log = root / "build" / "compare" / f"{commit}.log"
    say(f"building {commit} (log: {log.relative_to(root)})")
    cores = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", str(len(os.sched_getaffinity(0))))
    with open(log, "w", encoding="utf-8") as out:
        for words in (["cmake", "--preset", "release"], ["cmake", "--build", "--preset", "release", "--parallel", cores, "--target", *targets]):
            if subprocess.run(words, cwd=source, stdout=out, stderr=subprocess.STDOUT, check=False).returncode != 0:
                raise BenchmarkError(f"{commit} cannot be built; the log is {log.relative_to(root)}")
    return source, source / "build" / "release"
