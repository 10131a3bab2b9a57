"""Small contact problems and others derived from them, and a referee, in numpy alone: nothing here comes from the library that is tested.

A problem is a dict of the arrays of docs/npz.md (M, H, f, w, mu), contacts in the order normal, tangent 1, tangent 2.
"""

import numpy as np


# --- the referee ---------------------------------------------------------------------------------------------


def reduced(problem):
    """W and q of u = W r + q."""
    solved = np.linalg.solve(problem["M"], np.column_stack([problem["H"], problem["f"]]))
    return problem["H"].T @ solved[:, :-1], problem["H"].T @ solved[:, -1] + problem["w"]


def velocities(problem, r):
    """u = Hᵀ M⁻¹ (H r + f) + w."""
    return problem["H"].T @ np.linalg.solve(problem["M"], problem["H"] @ r + problem["f"]) + problem["w"]


def scale(problem):
    """What residuals are relative to."""
    return size_or_one(np.abs(reduced(problem)[1]).max())


def size_or_one(largest):
    """1 where it vanishes; below 1e-130 m/s squares are no numbers any more (docs/theory.md)."""
    return largest if largest > 1e-130 else 1.0


def residual(problem, r, law="cone"):
    """The largest of `errors`, divided by max|q|."""
    return errors(problem, r, law).max(initial=0.0) / scale(problem)


def island_residual(problem, r, law="cone"):
    """The same with every contact relative to max|q| of its own part."""
    sizes = np.abs(reduced(problem)[1]).reshape(-1, 3).max(axis=1)
    found = errors(problem, r, law)
    return max((found[part].max() / size_or_one(sizes[part].max()) for part in map(list, parts(problem))), default=0.0)


def errors(problem, r, law="cone"):
    """The Alart-Curnier error of docs/theory.md of every contact, in velocity units."""
    W, _ = reduced(problem)
    u = velocities(problem, r)
    if not (np.isfinite(r).all() and np.isfinite(u).all()):
        return np.full(len(problem["mu"]), np.inf)
    found = []
    for k, mu in enumerate(problem["mu"]):
        i = slice(3 * k, 3 * k + 3)
        block, r_k, u_k = W[i, i], r[i], u[i]
        normal, tangential = block[0, 0], np.linalg.eigvalsh(block[1:, 1:])[-1]
        pressed = max(0.0, r_k[0] - u_k[0] / normal)
        e_n = normal * (r_k[0] - pressed)
        z, bound = r_k[1:] - u_k[1:] / tangential, mu * pressed
        if law == "cone":
            length = np.hypot(*z)
            projected = z if length <= bound else z * (bound / length)
        else:
            projected = np.clip(z, -bound, bound)
        found.append(np.linalg.norm([e_n, *(tangential * (r_k[1:] - projected))]))
    return np.array(found)


def rounding(problem, r):
    """What the residual may differ by between two ways to compute u: ε times condition of M and the sums in H r + f."""
    size = (np.abs(problem["H"].T) @ np.abs(np.linalg.inv(problem["M"])) @ (np.abs(problem["H"]) @ np.abs(r) + np.abs(problem["f"]))).max()
    return 64 * np.finfo(float).eps * np.linalg.cond(problem["M"]) * (size + np.abs(problem["w"]).max(initial=0.0)) / scale(problem)


def parts(problem):
    """Contacts connected through the degrees of freedom that they share or that M couples: a list of sets."""
    dofs, contacts = len(problem["f"]), len(problem["mu"])
    leader = list(range(dofs + contacts))

    def find(i):
        while leader[i] != i:
            leader[i] = leader[leader[i]]
            i = leader[i]
        return i

    for i, j in np.argwhere(problem["M"] != 0.0):
        leader[find(i)] = find(j)
    for i, j in np.argwhere(problem["H"] != 0.0):
        leader[find(i)] = find(dofs + j // 3)
    groups = {}
    for k in range(contacts):
        groups.setdefault(find(dofs + k), set()).add(k)
    return list(groups.values())


# --- base problems -------------------------------------------------------------------------------------------


def random_frame(rng):
    """Columns normal, tangent 1, tangent 2."""
    return np.linalg.qr(rng.normal(size=(3, 3)))[0]


def particles(rng, bodies=4, contacts=5, diagonal=True, mu=0.5):
    """Mass points that touch one another or the ground and are pushed together."""
    M = np.diag(np.repeat(rng.uniform(0.5, 3.0, bodies), 3))
    if not diagonal:
        A = rng.normal(size=(3 * bodies, 3 * bodies))
        M += 0.2 * A @ A.T / bodies
    H = np.zeros((3 * bodies, 3 * contacts))
    for k in range(contacts):
        a, b = rng.permutation(bodies)[:2] if k % 2 and bodies > 1 else (rng.integers(bodies), -1)
        frame = random_frame(rng)
        H[3 * a:3 * a + 3, 3 * k:3 * k + 3] = frame
        if b >= 0:
            H[3 * b:3 * b + 3, 3 * k:3 * k + 3] = -frame
    # solvable: there is a velocity at which every contact opens (w is chosen so)
    v = rng.normal(size=3 * bodies)
    w = -H.T @ v
    w[0::3] += rng.uniform(0.0, 0.3, contacts)
    f = M @ (v + rng.normal(size=3 * bodies))
    return {"M": M, "H": H, "f": f, "w": w, "mu": mu * rng.uniform(0.5, 1.5, contacts)}


# --- derived problems ----------------------------------------------------------------------------------------


def contacts_in_order(problem, order):
    columns = (3 * np.asarray(order)[:, None] + np.arange(3)).ravel()
    return {**problem, "H": problem["H"][:, columns], "w": problem["w"][columns], "mu": problem["mu"][order]}


def dofs_in_order(problem, order):
    return {**problem, "M": problem["M"][np.ix_(order, order)], "H": problem["H"][order], "f": problem["f"][order]}


def tangents_turned(problem, angles):
    H, w = problem["H"].copy(), problem["w"].copy()
    for k, angle in enumerate(angles):
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        i = slice(3 * k + 1, 3 * k + 3)
        H[:, i], w[i] = H[:, i] @ turn, w[i] @ turn
    return {**problem, "H": H, "w": w}


def rotated(problem, frame):
    """The world turned: impulses in the frames of the contacts stay."""
    turn = np.kron(np.eye(len(problem["f"]) // 3), frame)
    return {**problem, "M": turn @ problem["M"] @ turn.T, "H": turn @ problem["H"], "f": turn @ problem["f"]}


def rescaled(problem, mass=1.0, speed=1.0):
    """Units of mass and of velocity changed: impulses change by both."""
    return {**problem, "M": mass * problem["M"], "f": mass * speed * problem["f"], "w": speed * problem["w"]}


def union(problems):
    """Side by side, without anything between them."""
    dofs, rows = sum(len(p["f"]) for p in problems), sum(len(p["w"]) for p in problems)
    M, H = np.zeros((dofs, dofs)), np.zeros((dofs, rows))
    i = j = 0
    for p in problems:
        n, m = p["H"].shape
        M[i:i + n, i:i + n], H[i:i + n, j:j + m] = p["M"], p["H"]
        i, j = i + n, j + m
    return {"M": M, "H": H, **{name: np.concatenate([p[name] for p in problems]) for name in ("f", "w", "mu")}}


def duplicated(problem, which):
    return contacts_in_order(problem, [*range(len(problem["mu"])), *which])


def squeezed(problem, rng, by=0.5):
    """One more pair of contacts, which ask one point to move in opposite directions at the same time: no velocity does both."""
    n = len(problem["f"])
    frame, body = random_frame(rng), 3 * rng.integers(n // 3)
    H = np.zeros((n, 6))
    H[body:body + 3, :3], H[body:body + 3, 3:] = frame, -frame
    w = np.zeros(6)
    w[0] = w[3] = -by * scale(problem)
    return {**problem, "H": np.hstack([problem["H"], H]), "w": np.concatenate([problem["w"], w]),
            "mu": np.concatenate([problem["mu"], problem["mu"][:1], problem["mu"][:1]])}


def nearly_singular(problem, rng, size=1e-9):
    """A contact beside another with a normal that differs in the last digits only."""
    twice = duplicated(problem, [0])
    H = twice["H"].copy()
    touched = np.abs(H[:, -3:]).max(axis=1) > 0
    H[touched, -3:] += size * rng.normal(size=(touched.sum(), 3))
    return {**twice, "H": H}


KINDS = ("plain", "permuted", "turned", "heavy", "light", "fast", "slow", "union", "duplicated", "infeasible", "nearly_singular", "mass_ratio", "friction", "rotated")
FRICTIONS = (0.0, 1e-12, 1.0, 10.0, 1e3, 1e8, 1e50, 1e200)


def derived(seed):
    """Problem number `seed`: (kind, problem, base problem, function that maps its impulses to those of the base, or None)."""
    rng = np.random.default_rng([2027, seed])
    kind = KINDS[seed % len(KINDS)]
    base = particles(rng, bodies=int(rng.integers(2, 5)), contacts=int(rng.integers(2, 7)), diagonal=bool(seed // len(KINDS) % 2))
    m = len(base["mu"])
    if kind == "plain":
        return kind, base, base, lambda r: r
    if kind == "permuted":
        order = rng.permutation(m)
        shuffled = dofs_in_order(contacts_in_order(base, order), points_in_order(rng, len(base["f"])))

        def back(r):
            mapped = np.empty_like(r).reshape(-1, 3)
            mapped[order] = r.reshape(-1, 3)
            return mapped.ravel()
        return kind, shuffled, base, back
    if kind == "turned":
        angles = rng.uniform(-np.pi, np.pi, m)

        def turned_back(r):
            mapped = r.copy()
            for k, angle in enumerate(angles):
                turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
                mapped[3 * k + 1:3 * k + 3] = turn @ r[3 * k + 1:3 * k + 3]
            return mapped
        return kind, tangents_turned(base, angles), base, turned_back
    factors = {"heavy": (1e6, 1.0), "light": (1e-6, 1.0), "fast": (1.0, 1e6), "slow": (1.0, 1e-6)}
    if kind in factors:
        mass, speed = factors[kind]
        return kind, rescaled(base, mass, speed), base, lambda r: r / (mass * speed)
    if kind == "union":
        pieces = [base] + [particles(rng, int(rng.integers(1, 4)), int(rng.integers(1, 4))) for _ in range(rng.integers(1, 4))]
        whole = union(pieces)
        order = rng.permutation(len(whole["mu"]))
        return kind, dofs_in_order(contacts_in_order(whole, order), points_in_order(rng, len(whole["f"]))), None, None
    if kind == "duplicated":
        return kind, duplicated(base, rng.integers(0, m, int(rng.integers(1, 4)))), None, None
    if kind == "infeasible":
        return kind, squeezed(base, rng), None, None
    if kind == "nearly_singular":
        return kind, nearly_singular(base, rng), None, None
    if kind == "mass_ratio":
        heavy = 10.0 ** rng.uniform(4, 8)
        M = base["M"].copy()
        M[:3, :] *= np.sqrt(heavy)
        M[:, :3] *= np.sqrt(heavy)
        f = base["f"].copy()
        f[:3] *= heavy
        return kind, {**base, "M": M, "f": f}, None, None
    if kind == "rotated":
        return kind, rotated(base, random_frame(rng)), base, lambda r: r
    friction = FRICTIONS[seed // len(KINDS) % len(FRICTIONS)]
    return kind, {**base, "mu": np.full(m, friction)}, None, None


def points_in_order(rng, dofs):
    """A random order of mass points, each with its three degrees of freedom together."""
    return (3 * rng.permutation(dofs // 3)[:, None] + np.arange(3)).ravel()
