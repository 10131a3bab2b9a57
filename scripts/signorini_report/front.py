"""The map of winners on OUT/report.html: scenes × solvers of one experiment at a time, with switches for tolerance, law, regions, threads and
measure. OUT/<id>/map.json holds what the map needs of an experiment, so that report.html is made again without reading its rows."""

import base64
import io
import json
from pathlib import Path

from PIL import Image, ImageChops

from signorini_report import interactive, whole_files

MAP = "map.json"
GALLERY = Path(__file__).resolve().parents[2] / "docs" / "gallery"
COLUMNS = ["file", "step", "scene", "contacts", "dofs", "solver", "name", "law", "region_mode", "threads", "protocol", "tolerance", "status",
           "iterations", "products", "setup_seconds", "solve_seconds"]
PICTURE_WIDTH = 240  # pixels; shown at half of it


def write_map(experiment):
    """map.json of an experiment; none where there is nothing to compare."""
    path = experiment.folder / MAP
    if interactive.unavailable() or experiment.runs.empty or experiment.runs.groupby(["solver", "options"]).ngroups < 2:
        path.unlink(missing_ok=True)
        return
    once, targets = interactive.runs_once(experiment.runs)
    table = once[COLUMNS + [f"reached.{place}" for place in range(len(targets))]]
    target = interactive.first_target(targets, experiment.config)
    whole_files.write_text(path, interactive.as_json({
        "targets": targets, "target": target, "protocols": interactive.protocols_of(once), "looks": interactive.looks_of(once), "rows": len(once),
        "scenes": once["scene"].nunique(), "snapshots": once.groupby(["file", "step"]).ngroups, "size": str(experiment.env.get("size", "")),
        "data": interactive.packed({"count": len(once), "columns": interactive.columns_of(table)})}))


def read_map(folder):
    """None where there is none, or one of another program."""
    try:
        found = json.loads((folder / MAP).read_text(encoding="utf-8"))
        return found if isinstance(found, dict) and {"targets", "protocols", "looks", "data", "scenes"} <= found.keys() else None
    except (OSError, ValueError):
        return None


def frame_of(sheet):
    """Sheets of the gallery hold frames in two columns, each above its time, then plots: the second frame, which shows bodies in contact, or the
    only one, without its margins."""
    column, several = sheet.width // 2, sheet.height > 0.5 * sheet.width
    frame = sheet.crop((column if several else 0, 0, 2 * column if several else column, int(0.65 * column)))
    drawn = ImageChops.difference(frame, Image.new("RGB", frame.size, frame.getpixel((frame.width - 1, 0)))).getbbox()
    return frame.crop(drawn) if drawn else frame


def picture_of(scene):
    """data: of a small picture of the scene; empty where the gallery has none."""
    path = GALLERY / f"{scene}.png"
    if Path(scene).name != scene or not path.is_file():
        return ""
    with Image.open(path) as picture:
        small = frame_of(picture.convert("RGB"))
    small.thumbnail((PICTURE_WIDTH, PICTURE_WIDTH), Image.Resampling.LANCZOS)
    content = io.BytesIO()
    small.save(content, "JPEG", quality=82)
    return "data:image/jpeg;base64," + base64.b64encode(content.getvalue()).decode()


def section(maps, titles):
    """The map of `maps` {id: map.json}; the one with most scenes comes first. Empty where there is nothing to show."""
    if not maps or interactive.unavailable():
        return ""
    order = sorted(maps, key=lambda name: (-maps[name]["scenes"], -len(maps[name]["looks"]), name))
    settings = {"experiments": [{"id": name, "title": titles.get(name, name)} | {key: value for key, value in maps[name].items() if key != "data"}
                                for name in order]}
    pictures = {path.stem: picture for path in sorted(GALLERY.glob("*.png")) if (picture := picture_of(path.stem))}
    return interactive.environment().get_template("front.html.j2").render(
        settings=interactive.for_script(settings), pictures=interactive.for_script(pictures), data=[(name, maps[name]["data"]) for name in order],
        script=interactive.script("data.js", "measure.js", "table.js", "controls.js", "front.js"))
