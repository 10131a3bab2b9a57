"""Which snapshots of a recording are kept."""


def choose(snapshots, most, contacts, stride):
    """At most `most` of the snapshots (dicts with "step" and "contacts", in the order of time).

    Every `stride`-th one with at least `contacts` contacts is a candidate. Where there are too many, time is cut into `most` spans
    with equally many candidates (one more or less), and the one with most contacts is taken from each, the earliest of equal ones.
    """
    candidates = [snapshot for snapshot in snapshots[::stride] if snapshot["contacts"] >= contacts]
    if len(candidates) <= most:
        return candidates
    ends = [len(candidates) * k // most for k in range(most + 1)]
    return [max(candidates[a:b], key=lambda snapshot: snapshot["contacts"]) for a, b in zip(ends, ends[1:])]
