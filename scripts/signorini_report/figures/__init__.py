"""The figures of an experiment. Every module of this folder states its own in a list FIGURES; there is no other list."""

import dataclasses
import importlib
import multiprocessing.connection
import os
import pkgutil
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path

from signorini_report import style
from signorini_report.strict import merged


@dataclasses.dataclass(frozen=True)
class Figure:
    name: str          # as `figures` of figures.toml names it, and of the file
    draw: Callable     # (experiment, folder): writes NAME.svg and .png by style.save; nothing where the data have none
    caption: str
    order: int         # on the page
    keys: dict = dataclasses.field(default_factory=dict)  # what it reads from figures.toml, see strict.py
    several: bool = False                                 # draws NAME_*.svg, too
    from_tables: bool = False                             # draws committed results, whose rows are gone, from their tables (committed.py)
    note: Callable = lambda folder, stem: ""              # (folder, stem): what the caption says besides


def known():
    """{name: Figure} in the order of the page, of all modules in this folder."""
    found = []
    for module in pkgutil.iter_modules(__path__):
        found += importlib.import_module(f"{__name__}.{module.name}").FIGURES
    return {one.name: one for one in sorted(found, key=lambda one: (one.order, one.name))}


def keys():
    """What figures.toml may hold for them."""
    return merged(*(figure.keys for figure in known().values()))


def pictures_in(folder):
    """[(file stem, caption)] of the figures that stand in a folder, in the order of the page."""
    found = []
    for name, figure in known().items():
        stems = [name] + (sorted(path.stem for path in folder.glob(f"{name}_*.svg")) if figure.several else [])
        found += [(stem, figure.caption + figure.note(folder, stem)) for stem in stems if (folder / f"{stem}.svg").is_file()]
    return found


def draw_and_tell(figure, experiment, place, end):
    """Sends None, or the error that drawing ended with."""
    try:
        figure.draw(experiment, place)
        end.send(None)
    except BaseException as error:
        error.add_note("while drawing:\n" + traceback.format_exc())
        end.send(error)


def draw_side_by_side(figures, experiment, place):
    """A process for each figure, as many at a time as there are processors; the first error is raised, and the others are ended."""
    context, waiting, running = multiprocessing.get_context("fork"), list(figures), {}
    try:
        while waiting or running:
            while waiting and len(running) < len(os.sched_getaffinity(0)):
                figure, (end, sending) = waiting.pop(0), context.Pipe(duplex=False)
                running[end] = context.Process(target=draw_and_tell, args=(figure, experiment, place, sending))
                running[end].start()
                sending.close()
            for end in multiprocessing.connection.wait(list(running)):
                try:
                    error = end.recv()
                except EOFError:
                    error = RuntimeError("the process that draws a figure was killed")
                running.pop(end).join()
                if error:
                    raise error
    finally:
        for process in running.values():
            process.terminate()
            process.join()


def draw_all(experiment, folder):
    """Draws what the data allow; pictures of earlier data do not stay behind as if they were current. They stay where drawing fails."""
    style.apply()
    figures = known()
    wanted = experiment.config.get("figures", list(figures))
    with tempfile.TemporaryDirectory(prefix=".figures-", dir=folder) as place:
        draw_side_by_side([figure for name, figure in figures.items() if name in wanted], experiment, Path(place))
        for stem, _ in pictures_in(folder):
            for suffix in (".svg", ".png", ".txt"):
                (folder / (stem + suffix)).unlink(missing_ok=True)
        for path in Path(place).iterdir():
            os.replace(path, folder / path.name)
