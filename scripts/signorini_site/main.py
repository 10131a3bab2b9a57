"""scripts/docs: stages the pages, runs doxygen and Sphinx, adds the listings, checks every link."""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from . import catalogue, check, cpp_api, python_api
from .staging import Extra, stage_pages

ROOT = Path(__file__).resolve().parent.parent.parent
WORK = ".build"  # pages as Sphinx reads them, what it keeps between two runs; also the mark of a folder that is ours
EXTRAS = [*catalogue.EXTRAS,
          Extra("Reference", "api/cpp/index", "C++", "the headers of the library: problem, referee, solvers, regions, files, experiments"),
          Extra("Reference", "api/python", "Python, name by name", "classes and functions of the package `signorini`")]


class Failure(Exception):
    pass


def folder_for(path):
    """The folder of the site; one with files of somebody else's is refused."""
    out = Path(path).resolve()
    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not (out / WORK).is_dir())):
        raise Failure(f"-o {path}: exists and is no site that scripts/docs made; name another folder, or remove it")
    (out / WORK).mkdir(parents=True, exist_ok=True)
    return out


def stage_all(root, stage, program):
    staged = stage_pages(root, stage, EXTRAS)
    catalogue.write_pages(root, stage, staged, program)
    python_api.write_page(root, stage)
    return staged, cpp_api.write_pages(root, stage, staged)


def bring_up_to_date(stage, new):
    """`stage` becomes `new`; files that are the same stay as old as they are, so that Sphinx reads only what has changed."""
    files = {path.relative_to(new) for path in new.rglob("*") if path.is_file()}
    for path in [path for path in stage.rglob("*") if path.is_file() and path.relative_to(stage) not in files]:
        path.unlink()
    for file in files:
        old = stage / file
        if not old.exists() or old.read_bytes() != (new / file).read_bytes():
            old.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(new / file, old)
    shutil.rmtree(new)


def remove_old_pages(out, stage):
    """Pages of an earlier run that no longer are; listings are all made anew."""
    shutil.rmtree(out / "files", ignore_errors=True)
    for path in out.rglob("*.html"):
        name = path.relative_to(out).with_suffix(".md")
        if WORK not in path.parts and not (stage / name).exists() and path.name not in ("genindex.html", "search.html"):
            path.unlink()


def run_sphinx(stage, out, work):
    """HTML into `out`; a warning is an error. All pages are written, since each has the list of all others beside it."""
    environment = os.environ | {"SIGNORINI_SITE_XML": str(work / "doxygen" / "xml"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-m", "sphinx", "-b", "html", "-a", "-q", "-W", "--keep-going", "-j", "auto", "-c", str(Path(__file__).parent),
                           "-d", str(work / "doctrees"), str(stage), str(out)], env=environment, check=False)
    if done.returncode != 0:
        raise Failure("Sphinx had warnings (above)")


def build(out, program):
    from . import assets  # Pygments comes with Sphinx: staging works without
    from .listings import Listings

    work, stage, new = out / WORK, out / WORK / "source", out / WORK / "new"
    shutil.rmtree(new, ignore_errors=True)
    staged, headers = stage_all(ROOT, new, program)
    bring_up_to_date(stage, new)
    remove_old_pages(out, stage)
    warnings = cpp_api.run_doxygen(ROOT, headers, work / "doxygen")
    if warnings:
        raise Failure("doxygen warns:\n" + "\n".join(warnings))
    run_sphinx(stage, out, work)
    assets.write_assets(out / "_static")
    Listings(ROOT, out, staged).write()
    assets.mend_pages(out)
    lines = check.broken(out)
    if lines:
        raise Failure(f"{len(lines)} links or pictures are broken:\n" + "\n".join(lines[:50]))
    return len(list(out.rglob("*.html")))


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="scripts/docs", description="Builds the documentation as a website that opens from disk.")
    parser.add_argument("-o", "--output", metavar="DIR", default=str(ROOT / "build" / "docs"), help="folder of the site (default: build/docs)")
    parser.add_argument("--program", default=os.environ.get("SIGNORINI_PROGRAM", str(ROOT / "build" / "release" / "experiments" / "signorini")),
                        help="the program that is asked for its lists (default: SIGNORINI_PROGRAM, else the one that was built here)")
    given = parser.parse_args(arguments)
    try:
        out = folder_for(given.output)
        pages = build(out, given.program)
    except (Failure, ValueError, RuntimeError, OSError) as error:
        print(f"docs: error: {error}", file=sys.stderr)
        return 1
    print(f"{out / 'index.html'}: {pages} pages, no warning, no broken link")
    return 0
