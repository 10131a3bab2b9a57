"""Which snapshots of a recording are kept: evenly over contacts, difficulty and time.

Snapshots are dicts with "step" and "contacts", in the order of time; `choose` also reads "difficulty", anything that sorts.
"""

POOL = 4  # snapshots whose difficulty is measured for each one that is kept


def candidates(snapshots, most, contacts, stride):
    """The snapshots whose difficulty is worth measuring, at most POOL * most.

    Every `stride`-th one with at least `contacts` contacts. Where there are too many, time is cut into POOL * most spans with equally many of them
    (one more or less); spans give in turn the one with most and the one with fewest contacts, the earliest of equal ones.
    """
    found = [snapshot for snapshot in snapshots[::stride] if snapshot["contacts"] >= contacts]
    spans = POOL * most
    if len(found) <= spans:
        return found
    ends = [len(found) * k // spans for k in range(spans + 1)]
    pick = (max, min)
    return [pick[k % 2](found[a:b], key=lambda snapshot: snapshot["contacts"]) for k, (a, b) in enumerate(zip(ends, ends[1:]))]


def ranks(values):
    """Places of the values in their order, from 0 for the least to 1 for the largest; equal values share the middle of their places."""
    order = sorted(values)
    first, last = {}, {}
    for place, value in enumerate(order):
        first.setdefault(value, place)
        last[value] = place
    return [0.5 * (first[value] + last[value]) / max(1, len(order) - 1) for value in values]


def unevenness(chosen, coordinates):
    """How far the chosen places are from even ones, summed over the coordinates: 0 where each coordinate is met at 0, 1/(k-1), …, 1."""
    count = len(chosen)
    wanted = [place / (count - 1) for place in range(count)] if count > 1 else [1.0]
    return sum(abs(rank - aim) for ranked in coordinates for rank, aim in zip(sorted(ranked[index] for index in chosen), wanted))


def exchanged(chosen, total, coordinates):
    """The best of all choices that differ in one snapshot, the first of equal ones; None where none is more even."""
    best, least = None, unevenness(chosen, coordinates) - 1e-12
    for place in range(len(chosen)):
        for index in sorted(set(range(total)) - set(chosen)):
            other = [*chosen[:place], index, *chosen[place + 1:]]
            value = unevenness(other, coordinates)
            if value < least:
                best, least = other, value - 1e-12
    return best


def choose(pool, most):
    """At most `most` of the pool, spread evenly over contacts, difficulty and time.

    Each snapshot has a place between 0 and 1 in each of the three orders. The choice starts evenly in time; then one snapshot at a time is
    exchanged as long as that makes the places of the chosen ones more even (`unevenness`). Same pool, same choice.
    """
    if len(pool) <= most:
        return pool
    coordinates = [ranks(range(len(pool))), *(ranks([snapshot[key] for snapshot in pool]) for key in ("contacts", "difficulty"))]
    chosen = [round(place * (len(pool) - 1) / max(1, most - 1)) for place in range(most)]
    while (better := exchanged(chosen, len(pool), coordinates)) is not None:
        chosen = better
    return [pool[index] for index in sorted(chosen)]
