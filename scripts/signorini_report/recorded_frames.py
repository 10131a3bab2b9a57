"""Which frames a recording holds that can be seen, read by h5py without decoding any."""

import h5py


def names(path):
    """Ids of the frames with surfaces, ascending; those of a file that cannot be read are none."""
    try:
        with h5py.File(path) as file:
            steps = file["steps"]
            found = sorted(steps, key=number)
            return found if found and "geometry" in steps[found[0]] else []
    except (OSError, KeyError, ValueError, RuntimeError):
        return []


def number(frame):
    """000120.2 → (120, 2), 000120 → (120, 1): a step and its solve."""
    step, _, solve = frame.partition(".")
    return int(step), int(solve or 1)


def why_none(path):
    """"holds no frames", to go behind the name of a recording; empty where frames can be seen."""
    if path.suffix != ".h5" or names(path):
        return ""
    try:
        with h5py.File(path) as file:
            return "holds no surfaces" if len(file["steps"]) else "holds no frames"
    except (OSError, KeyError, ValueError, RuntimeError):
        return "cannot be read"
