"""The figures of one experiment. Each function draws one picture and returns True, or False when the data have none."""

import pandas as pd

from signorini_report import style
from signorini_report.data import ReportError
from signorini_report.figure_anticipation import inner, over_contacts
from signorini_report.figure_convergence import convergence, histories, ladder, profile, solved
from signorini_report.figure_follow import follow
from signorini_report.figure_methods import methods
from signorini_report.figure_parts import laws_of
from signorini_report.figure_rounds import rounds
from signorini_report.figure_scenes import incline, regions, residuals, series
from signorini_report.figure_runs import scatter
from signorini_report.figure_sheet import sheet
from signorini_report.figure_steps import against, histogram, over_time, shares
from signorini_report.figure_times import contacts, growth, ratios, threads, times_and_iterations
from signorini_report.figure_winners import winners

PICTURES = {  # name: (function, caption), in the order of the page
    "sheet": (sheet, "Evenly spaced frames of the recordings that were solved. Dots are contacts, coloured by region; below, contacts and "
                     "energies of every step."),
    "times_and_iterations": (times_and_iterations,
                             "Solve time and iterations to the tolerance, by solver and region mode. Marks are medians over the "
                             "snapshots that were solved, bars their quartiles; the column on the right counts solved snapshots."),
    "methods": (methods, "Time to resolve contacts (left) and iterations (right) of every method, divided by those of the reference method, scene by "
                         "scene. Crosses are the paper's ratios. The numbers are in the tables below."),
    "winners": (winners, "Time of every method over that of the fastest one on the same snapshot, set-up included; geometric mean over the "
                         "snapshots of a scene. 1.0: the fastest on every snapshot; bold: the fastest on the scene among those that solve every "
                         "snapshot. A count in red: the method reached the residual on so many snapshots only."),
    "profile": (profile, "Performance profile: the share of snapshots that a solver solves within a factor of the fastest solver's time. The value at 1 "
                         "says how often it is the fastest, the value at the right end how many snapshots it solves at all."),
    "convergence_iterations": (None, "The referee's residual against the iteration, whole problems on one thread; a red cross "
                                     "ends a run that did not reach the tolerance."),
    "convergence_time": (None, "The referee's residual against solve time, whole problems on one thread; a red cross ends a run "
                               "that did not reach the tolerance."),
    "histories": (histories, "Norms that the solvers compute themselves on one snapshot, by iteration: largest component of the residual "
                             "of the system, of the preconditioned residual and of the relative velocity left in active constraints. "
                             "Ticks at the foot are changes of contact states and restarts; the dotted line is the first iteration "
                             "at which the referee's residual meets the tolerance."),
    "rounds": (rounds, "Norms that the solvers compute themselves through one time step with several linearised problems, one behind the other. Each starts from the impulses "
                       "of the one before; at every circle the contacts are linearised anew."),
    "growth": (growth, "Iterations until the referee's residual meets the tolerance, and products with M on the way, against the "
                       "setting at which the problem was recorded. A red cross marks a run that did not reach it."),
    "residuals": (residuals, "The referee's residual where the solver stops by itself, against the setting at which the problem was "
                             "recorded, by region mode."),
    "solved": (solved, "Share of the problems on which the referee's residual meets the tolerance within a number of iterations."),
    "ladder": (ladder, "Work until the solver stops (left) and share of the problems that it does not solve (right), against the residual at which "
                       "the first phase hands over to the second."),
    "series": (series, "What the recordings measured over time; on the right a short part of it."),
    "scatter": (scatter, "Every mark is one run on one snapshot; a hollow one did not meet the tolerance."),
    "histogram": (histogram, "Share of the steps of each recording; the last bar holds everything from there on."),
    "over_time": (over_time, "Every dot is one step of a recording, the line their running median."),
    "against": (against, "Every mark is one step of a recording; lines are fitted power laws."),
    "follow": (follow, "Every mark is one step of a recording: its regions updated from the step before, against building them anew. Below the "
                       "line the update is faster."),
    "shares": (shares, "Where the time of a step goes, by the clock, with everything but recording."),
    "incline": (incline, "Which recorded blocks stay and which slide. Every row is one way to drive the same block, every mark one "
                         "recording; the two of a pair lie 0.1 % below and above the critical slope."),
    "ratios": (ratios, "Every mark is one snapshot; dashed lines and numbers are ratios of the sums over all of a scene or family."),
    "contacts": (contacts, "Solve time against the number of contacts in the snapshot, with the fitted power law and its exponent."),
    "over_contacts": (over_contacts, "Every mark is one snapshot, every line the fitted power law with its exponent; where the numbers of "
                                     "contacts do not span a factor of two there is none."),
    "inner": (inner, "Sweeps over the contacts in one iteration, up to the first iteration at which the referee's residual meets the "
                     "tolerance: share of the iterations with at most so many, all snapshots of a recording together."),
    "regions": (regions, "The recording: contacts and regions over the steps, sizes of the regions, share of the largest."),
    "threads": (threads, "Speed-up by threads on the same snapshot, and where it pays: against the time that one thread needs."),
}


MANY = ["scatter", "histogram", "over_time", "against", "shares"]  # a picture for each table of the config


def pictures_in(folder):
    """[(file stem, caption)] of the figures that stand in a folder, in the order of the page."""
    found = []
    for name, (function, caption) in PICTURES.items():
        stems = [] if name not in MANY and function is None else [name]
        if function is None or name in MANY:
            stems += sorted(path.stem for path in folder.glob(f"{name}_*.svg"))
        for stem in stems:
            if (folder / f"{stem}.svg").is_file():
                if name == "histories" and (folder / "histories.txt").is_file():
                    caption += f" Snapshot: {(folder / 'histories.txt').read_text(encoding='utf-8').strip()}."
                law = "" if function else f" Law: {stem[len(name) + 1:]}."
                found.append((stem, caption + law))
    return found


def draw_all(experiment, folder):
    """Draws what the data allow; pictures of earlier data do not stay behind as if they were current."""
    (folder / "histories.txt").unlink(missing_ok=True)
    for stem, _ in pictures_in(folder):
        for suffix in (".svg", ".png"):
            (folder / (stem + suffix)).unlink(missing_ok=True)
    style.apply()
    wanted = experiment.config.get("figures", list(PICTURES))
    unknown = sorted(set(wanted) - set(PICTURES))
    if unknown:
        raise ReportError(f"{experiment.folder / 'config.toml'}: unknown figure '{unknown[0]}' (known: {', '.join(PICTURES)})")
    for name, (function, _) in PICTURES.items():
        if function and name in wanted:
            function(experiment, folder)
    for law in laws_of(pd.DataFrame({"law": [trace.law for trace in experiment.traces]}, dtype=object)):
        if "convergence_iterations" in wanted:
            convergence(experiment, folder, "iteration", law)
        if "convergence_time" in wanted:
            convergence(experiment, folder, "seconds", law)
