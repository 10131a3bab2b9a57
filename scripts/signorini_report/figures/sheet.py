"""Contact sheets: evenly spaced frames of recordings, as scripts/render draws them."""

import subprocess
import sys
import tempfile
from pathlib import Path

from matplotlib import pyplot as plt

from signorini_report import style
from signorini_report.data import ReportError, scene_of
from signorini_report.figures import Figure

SCRIPT = Path(__file__).resolve().parents[2] / "render"


def recordings_of(experiment, names):
    """[(name, file)] of the recordings beside the folder of the experiment; those that are not there are left out."""
    folder, found = experiment.folder.resolve().parent / "recordings", []
    listed = set(experiment.runs["file"])
    for table in ("recordings.csv", "steps.csv"):
        path = experiment.folder / table
        if path.is_file():
            with open(path, encoding="utf-8") as lines:
                listed |= {line.split(",", 1)[0] for line in lines}
    for name in names:
        files = sorted(file for file in listed if file.endswith(".h5") and scene_of(file) == name)
        found += [(name, folder / file) for file in files if (folder / file).is_file()]
    return found


def drawn(file, frames, words):
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder) / "sheet.png"
        done = subprocess.run([sys.executable, str(SCRIPT), str(file), "--sheet", "--frames", str(frames), "--size", "360x300",
                               "-o", str(picture), *words], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ReportError(f"contact sheet of {file.name}: {(done.stderr.strip().splitlines() or ['no picture'])[-1]}")
        return plt.imread(picture)


def sheet(experiment, folder):
    """One contact sheet for every recording that [sheet] names."""
    wanted = experiment.config.get("sheet")
    if wanted is None:
        return False
    recordings = recordings_of(experiment, wanted["recordings"])
    if not recordings:
        return False
    views = wanted.get("view", [])
    images = [drawn(file, wanted.get("frames", 6), [f"--{key}={value:g}" for key, value in zip(("azimuth", "elevation", "zoom"), views)])
              for _, file in recordings]
    heights = [style.FULL_WIDTH * image.shape[0] / image.shape[1] for image in images]
    figure, grid = plt.subplots(len(images), 1, squeeze=False, figsize=(style.FULL_WIDTH, sum(heights)),
                                gridspec_kw={"height_ratios": heights, "hspace": 0.02, "left": 0, "right": 1, "top": 1, "bottom": 0})
    for axes, image, (name, _) in zip(grid[:, 0], images, recordings):
        axes.imshow(image, interpolation="none")
        axes.set_axis_off()
        if len(images) > 1:  # the picture's own title is the scene, which they may share
            axes.text(0.5, 0.995, name, transform=axes.transAxes, ha="center", va="top")
    style.save(figure, folder, "sheet")
    return True


FIGURES = [
    Figure("sheet", sheet, order=10, keys={"sheet": dict.fromkeys(("recordings", "frames", "view"))},
           caption="Evenly spaced frames of the recordings that were solved. Dots are contacts, coloured by region; below, contacts and "
                   "energies of every step."),
]
