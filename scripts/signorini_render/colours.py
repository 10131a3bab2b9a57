"""Bodies in muted colours, contacts in strong ones."""

import numpy as np

# Muted, of similar lightness, neighbours far apart in hue.
BODIES = ["#8FA9C7", "#D9B58A", "#9CBF9A", "#C79AA8", "#B3A6CE", "#C9C08B", "#8DBFBF", "#D3A08E", "#A9B2BA", "#B9C98F", "#C9A9C9",
          "#94B3A6"]
# Strong, distinct on the muted ones.
REGIONS = ["#D62728", "#1F66C4", "#1E9E2E", "#FF7F0E", "#8E44C9", "#11B5C9", "#E34FB4", "#A8A800", "#8C4B2F", "#10208A", "#FFD21F",
           "#00624A"]
OBSTACLE = "#DAD8D3"
INK = "#24292E"


def rgb(code):
    return np.array([int(code[i:i + 2], 16) for i in (1, 3, 5)], float) / 255.0


def linear(srgb):
    return np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)


def srgb(light):
    light = np.clip(light, 0.0, 1.0)
    return np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)


def body_colours(body):
    """n×3 linear colours of body numbers; −1 is the obstacle."""
    table = linear(np.array([rgb(code) for code in BODIES]))
    colours = table[np.maximum(body, 0) % len(table)]
    colours[body < 0] = linear(rgb(OBSTACLE))
    return colours


def region_colours(points, sizes):
    """n×3 sRGB colours of regions by their smallest mass point, so that a region keeps its colour while it keeps that point,
    except that of two that want the same one the smaller takes the next that is free: up to twelve regions never share one, then
    darker and lighter variants follow."""
    base = np.array([rgb(code) for code in REGIONS])
    count = len(base)
    palette = np.concatenate([base, 0.55 * base, 0.5 * base + 0.5])
    taken, slots = set(), np.zeros(len(points), int)
    for region in np.lexsort((points, -sizes)):
        wanted = int(points[region]) * 7 % count
        order = [*((wanted + i) % count for i in range(count)), *(count + (wanted + i) % (2 * count) for i in range(2 * count))]
        slots[region] = next(slot for slot in order if slot not in taken)
        taken.add(slots[region])
        if len(taken) == len(palette):
            taken.clear()  # more regions than colours: begin again
    return palette[slots]
