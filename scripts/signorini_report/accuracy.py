"""accuracy.csv of a result: recordings beside the finest of their kind, a row each (lib/harness/accuracy_table.h says what the columns of the
program are), and what follows from them:

    asked                 the setting that makes the ladder, [accuracy] over
    step_seconds          mean time of a step with contacts
    energy_share          energy_error / energy
    creep_beyond          creep_most less that of the finest, at least 0; deepest_beyond the same of deepest_point
    step_error            velocity_error_most · time_step: what the residual leaves of a gap in one step, at most       [m]
    path_error            velocity_error_whole · duration: what it leaves of a path, if every step errs the same way    [m]
    slide_speed           of a block with damping d on a slope θ steeper than μ: its final speed g (sin θ − μ cos θ)/d [m/s]
    slip_slope            the slope on which a block with this drift would just stay, over μ, less 1: (tan θ − d v/(g cos θ))/μ − 1
    slip_beyond           distance of slip_slope from that of the finest

The three of the slope are there for recordings that set time.gravity_tilt_deg, contact.friction and the damping of one material.
"""

import numpy as np
import pandas as pd

from signorini_report.strict import ReportError

GRAVITY = 9.81  # m/s², of scenes that do not set it
TILT, FRICTION, DAMPING = "setting.time.gravity_tilt_deg", "setting.contact.friction", ".damping_1_s"


def read(folder, clocks):
    """The columns of the program; None where the experiment asks for none."""
    path = folder / "accuracy.csv"
    if not path.is_file():
        return None
    try:
        rows = pd.read_csv(path)
    except (pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        raise ReportError(f"{path}: no table ({error})") from error
    absent = [column for column in ["file", "finest", "creep_most", "energy", *clocks] if column not in rows.columns]
    if absent:
        raise ReportError(f"{path}: columns missing: {', '.join(absent)}")
    return rows


def of_finest(rows, column):
    """The values of a column in the finest recording of every row's kind."""
    return rows["finest"].map(dict(zip(rows["file"], rows[column])))


def beyond(rows, column):
    return (rows[column] - of_finest(rows, column)).clip(lower=0.0)


def sliding(rows):
    """(slide_speed, slip_slope); None where no recording sets all that they need."""
    materials = [column for column in rows.columns if column.startswith("setting.materials.") and column.endswith(DAMPING)]
    if not materials or not {TILT, FRICTION} <= set(rows.columns):
        return None
    one = rows[materials].count(axis=1) == 1
    tilt, friction, damping = np.radians(rows[TILT]), rows[FRICTION], rows[materials].max(axis=1).where(one)
    slope = np.tan(tilt)
    steep = slope > friction
    speed = (GRAVITY * (np.sin(tilt) - friction * np.cos(tilt)) / damping).where(steep)
    return speed, ((slope - damping * rows["drift_mean"] / (GRAVITY * np.cos(tilt))) / friction - 1.0).where(steep)


def derived(rows, over):
    """The table with the columns above; `over`: the setting that makes the ladder."""
    name = f"setting.{over}"
    if name not in rows.columns:
        raise ReportError(f"accuracy.csv: no recording sets '{over}'")
    found = {"asked": rows[name].astype(float), "energy_share": rows["energy_error"] / rows["energy"].where(rows["energy"] > 0),
             "creep_beyond": beyond(rows, "creep_most"), "deepest_beyond": beyond(rows, "deepest_point"),
             "step_error": rows["velocity_error_most"] * rows["time_step"], "path_error": rows["velocity_error_whole"] * rows["duration"]}
    rows = rows.assign(**found)
    slope = sliding(rows)
    if slope is not None:
        rows = rows.assign(slide_speed=slope[0], slip_slope=slope[1])
        rows["slip_beyond"] = (rows["slip_slope"] - of_finest(rows, "slip_slope")).abs()
    return rows
