"""Verschoor and Jalba 2019, Table 1, scene Rings (120 rings, 12,960 tets, 17,280 faces, dt = 1 ms, E = 0.5 MPa): means per step
on one core of an AMD FX-8350. `constraints` are three per contact."""

from dataclasses import dataclass

SCENE = "Verschoor & Jalba 2019, Table 1, Rings"
CORE = "one core, AMD FX-8350"


@dataclass(frozen=True)
class PaperRow:
    method: str
    resolution: float  # s
    collision: float  # s
    iterations: float
    constraints: float

    @property
    def contacts(self):
        return self.constraints / 3.0

    @property
    def total(self):
        return self.resolution + self.collision


RINGS = [
    PaperRow("CR (Full)", 0.52, 0.94, 97, 2280),
    PaperRow("ICA", 0.8, 0.85, 180, 2846),
    PaperRow("CR (Diag)", 2.8, 1.1, 451, 2435),
    PaperRow("SP, 2 × CR (Diag)", 5.0, 0.68, 814, 2340),
    PaperRow("SP, active set", 5.6, 0.68, 1546, 2385),
]
