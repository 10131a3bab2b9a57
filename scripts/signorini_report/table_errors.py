"""What every residual costs and leaves, scene by scene: [errors] of figures.toml, written as errors.md and on the page."""

import numpy as np

from signorini_report import machine, tables, whole_files
from signorini_report.error_lines import ROUNDING, lines_of

HEADER = ["scene", "driven by", "residual", "velocity error [m/s]", "creep [m/s]", "slope of slip [%]", "penetration [m]", "distance [m]", "energy [%]",
          "iterations", "halved steps"]
NOTE = ("Residual: what every solve of the run was asked for; in brackets the worst that a step was left with, where that is more. Velocity error: "
        "the residual in m/s, mean of the last part of the run. Creep: of the fastest body among those that rest in the finest run. Slope of slip: "
        "by how much the slope at which the block slides is off. Distance: of the surfaces from the finest run at the end, mean. Energy: largest "
        "difference from the finest run, of its energy at the start. Halved: steps that collided or could not be solved, and were taken in parts; held: those that "
        "went no further than their first impact. `–`: nothing to measure, or the finest run itself.")


OVERVIEW = ("For every residual the largest error among all scenes and both solvers: creep and penetration beyond those of the finest run; the time of a step is "
            "the median of the scenes. What stands behind the numbers is said below.")


def power(value):
    """2e-5, and 0 as it is."""
    if value is None or not np.isfinite(value):
        return "–"
    return "0" if value == 0 else f"{value:.1e}".replace("e-0", "e-").replace("e+00", "")


def length(value):
    """Lengths below the rounding of coordinates are 0."""
    return power(0.0 if value < ROUNDING else value)


def percent(value):
    """A share in %, two digits."""
    return "–" if not np.isfinite(value) else f"{100 * value:.2g}" if abs(value) >= 1e-5 else power(100 * value)


def asked(row):
    text = tables.tolerance_text(row['asked'])
    return text if row["residual"] <= row["asked"] * (1 + 1e-6) else f"{text} ({power(row['residual'])})"


def halved(row):
    """568 of 700, 359 held"""
    held = f", {int(row['unresolved'])} held" if row["unresolved"] else ""
    return f"{int(row['halved'])} of {int(row['steps'])}{held}" if row["halved"] or held else "–"


def cells(line, row):
    finest = row["file"] == row["finest"]
    slip = np.nan if line.slip is None else line.slip.get(row["asked"], np.nan)
    return [line.words, f"`{line.solver}`", asked(row), power(row["velocity_error"]), power(row["creep_most"]), percent(slip), length(row["deepest_point"]),
            "–" if finest else length(row["apart_mean"]), "–" if finest else percent(row["energy_share"]), f"{row['iterations']:.3g}",
            halved(row), f"{1e3 * row['step_seconds']:.3g}"]


def body(lines):
    return [cells(line, row) for line in lines for _, row in line.rows.sort_values("asked", ascending=False).iterrows()]


def largest(values):
    values = np.array([value for value in values if np.isfinite(value)])
    return values.max() if values.size else np.nan


def overview(lines):
    """A row for every residual: the largest error of all scenes and solvers, beyond that of the finest run; the median of the times."""
    found = []
    for asked_for in sorted({value for line in lines for value in line.rows["asked"]}, reverse=True):
        rows, slips, times = [], [], []
        for line in lines:
            part = line.rows[line.rows["asked"] == asked_for]
            rows += [row for _, row in part.iterrows()]
            slips.append(np.nan if line.slip is None else abs(line.slip.get(asked_for, np.nan)))
            times += list(part["step_seconds"] / line.rows.loc[line.rows["asked"].idxmin(), "step_seconds"])
        others = [row for row in rows if row["file"] != row["finest"]]
        found.append([tables.tolerance_text(asked_for), power(largest(row["velocity_error"] for row in rows)),
                      power(largest(row["creep_beyond"] for row in others)), percent(largest(slips)), length(largest(row["deepest_beyond"] for row in others)),
                      length(largest(row["apart_mean"] for row in others)), percent(largest(row["energy_share"] for row in others)), f"{np.median(times):.2g}"])
    return found


def write(experiment, folder):
    """errors.md: the solvers that the lines are about, then those that check them."""
    lines = lines_of(experiment)
    if not lines:
        return
    busy = machine.of_experiment(experiment).get("accuracy")
    header = [*HEADER, "time of a step [ms]" + (", busy machine" if busy else "")]
    heads = ["residual", *(head for head in HEADER[3:9]), "time of a step ÷ at the finest" + (", busy machine" if busy else "")]
    first = f"## The largest errors of all scenes\n\n{OVERVIEW}\n\n{tables.markdown(heads, overview(lines), set(range(len(heads))))}\n"
    parts = [(title, [line for line in lines if line.check == check])
             for title, check in (("Errors and cost of every residual", False), ("The same, driven by a second solver", True))]
    title = experiment.config["errors"].get("title", "Errors")
    text = "\n".join(f"## {heading}\n\n{NOTE + chr(10) + chr(10) if not place else ''}{tables.markdown(header, body(part), set(range(2, len(header))))}"
                     for place, (heading, part) in enumerate(parts) if part)
    whole_files.write_text(folder / "errors.md", f"# {title}\n\n{first}{text}")
