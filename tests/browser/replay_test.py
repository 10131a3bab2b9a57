#!/usr/bin/python3
"""Pages of `signorini replay` in a browser, against the recording by h5py and against `signorini solve`."""

import csv
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import browser  # noqa: E402

try:
    import h5py
    import numpy
except ImportError:
    h5py = numpy = None

PROGRAM = os.environ.get("SIGNORINI_PROGRAM", str(browser.SOURCE / "build/release/experiments/signorini"))
THREE = Path("/usr/share/javascript/three/build/three.min.js")
VIEWER = "const viewer = document.getElementById('replay').signoriniReplay;"
HOSTILE = "a<b>&\"'${1}"


def why_not():
    if not Path(PROGRAM).exists():
        return f"no program at {PROGRAM}"
    if h5py is None:
        return "python3-h5py is not installed"
    return "" if THREE.is_file() else "no pages can be made: the package libjs-three is not installed (scripts/setup)"


def program(*words, code=0):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, timeout=300, cwd=browser.SOURCE)
    assert done.returncode == code, f"{words}: {done.returncode}: {done.stderr}"
    return done


class Replay(browser.BrowserTest):
    @classmethod
    def setUpClass(cls):
        if reason := why_not():
            raise unittest.SkipTest(reason)
        super().setUpClass()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.file, cls.page = cls.folder / "bucket.h5", cls.folder / "bucket.html"
        program("record", browser.SOURCE / "configs/scenes/bucket.toml", "-o", cls.file, "--steps", "1120", "--set", "time.record_every=80")
        cls.made = json.loads(program("replay", cls.file, "--solver", "pgs,nncg,recorded", "-o", cls.page, "--json").stdout)
        with h5py.File(cls.file) as file:
            cls.steps = list(file["steps"])
            contacts = [int(file["steps"][step].attrs["contacts"]) for step in cls.steps]
            cls.fullest = cls.steps[contacts.index(max(contacts))]

    def viewer(self, script, *values):
        return self.run_js(VIEWER + script, *values)

    def frame(self, step):
        return h5py.File(self.file)["steps"][step]

    def words(self, part):
        return self.find(f"[data-part={part}]").text

    def point(self, k, pane=0):
        """Clicks contact k, as a reader does."""
        x, y = self.viewer("const box = viewer.canvas.getBoundingClientRect(), at = viewer.stage.screenOf(arguments[0], viewer.frame, arguments[1]);"
                           "return [box.left + at.x, box.top + at.y];", pane, k)
        for kind in ("mousePressed", "mouseReleased"):
            self.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1})

    def separate_contact(self):
        """A contact that no other one is near on the screen."""
        return self.viewer("""
            const at = Array.from({length: viewer.frame.contacts}, (_, k) => viewer.stage.screenOf(0, viewer.frame, k));
            return at.findIndex((a, k) => at.every((b, l) => l === k || Math.hypot(a.x - b.x, a.y - b.y) > 8));""")

    def table(self):
        """The rows of the tables about the contact: name -> cells."""
        rows = self.run_js("""return [...document.querySelectorAll("[data-part=contact] tr")].map(
            (row) => [row.querySelector("th").textContent, [...row.querySelectorAll("td")].map((cell) => cell.textContent)]);""")
        return dict(rows)

    def picture(self):
        return self.viewer("viewer.draw(); return viewer.canvas.toDataURL();")

    def test_loads_without_an_error_and_shows_the_fullest_frame(self):
        self.open(self.page)
        self.assertNoErrors()
        self.assertIn(self.fullest, self.words("frame-text"))
        painted = self.viewer("""viewer.draw(); const gl = viewer.canvas.getContext("webgl2") || viewer.canvas.getContext("webgl");
            const w = gl.drawingBufferWidth, h = gl.drawingBufferHeight, p = new Uint8Array(4 * w * h);
            gl.readPixels(0, 0, w, h, gl.RGBA, gl.UNSIGNED_BYTE, p);
            let n = 0; for (let i = 0; i < p.length; i += 4) if (p[i] < 235 || p[i + 2] < 235) ++n; return n / (w * h);""")
        self.assertGreater(painted, 0.05, "bodies and contacts cover a part of the picture")
        self.screenshot("replay.png")

    def test_a_reader_with_keys_alone_can_use_it(self):
        self.open(self.page)
        self.assertEqual(self.accessibility(), [])

    def test_the_slider_changes_the_frame(self):
        self.open(self.page, f"step={self.steps[0]}")
        self.assertIn(self.steps[0], self.words("frame-text"))
        before = self.picture()
        self.find("[data-part=frames]").send_keys(browser.Keys.ARROW_RIGHT)
        self.assertIn(self.steps[1], self.words("frame-text"))
        self.assertNotEqual(self.picture(), before)
        self.assertIn(f"step={self.steps[1]}", self.driver.current_url)
        vertices = numpy.array(self.viewer("return [...viewer.frame.vertices];")).reshape(-1, 3)
        recorded = self.frame(self.steps[1])["geometry/vertices"][:]
        step = numpy.ptp(numpy.concatenate([recorded, self.frame(self.steps[1])["position"][:]]), axis=0) / 65535
        # half a step, and single precision
        self.assertTrue((numpy.abs(vertices - recorded) <= 0.5 * step + 1e-7 * numpy.abs(recorded).max()).all())

    def test_play_and_pause(self):
        self.open(self.page, f"step={self.steps[0]}")
        self.find("[data-part=play]").click()
        self.wait(lambda: self.steps[2] in self.words("frame-text"), "does not play")
        self.find("[data-part=play]").click()
        at = self.words("frame-text")
        self.driver.execute_async_script("setTimeout(arguments[0], 500);")
        self.assertEqual(self.words("frame-text"), at)
        self.assertNoErrors()

    def test_a_click_gives_the_numbers_of_the_recording(self):
        self.open(self.page, f"step={self.fullest}&solver=recorded,pgs")
        k = self.separate_contact()
        self.assertGreaterEqual(k, 0)
        self.point(k)
        self.wait(lambda: self.find_all("[data-part=contact] td"), "the click marks nothing")
        rows, frame = self.table(), self.frame(self.fullest)
        self.assertEqual(rows["contact"], [str(k)])
        names = [f"body {b}" if b >= 0 else "obstacle" for b in frame["bodies"][k]]
        self.assertEqual(rows["bodies"], [", ".join(names)])
        close = lambda text, value: numpy.testing.assert_allclose(float(text), value, rtol=2e-6, atol=1e-30)  # noqa: E731
        close(rows["gap (m)"][0], frame["gap"][k])
        close(rows["μ"][0], frame["mu"][k])
        impulse = frame["impulse"][3 * k:3 * k + 3]
        for text, value in zip(rows["r (N s): N, T1, T2"][0].split(), impulse, strict=True):
            close(text, value)
        size, bound = numpy.hypot(*impulse[1:]), frame["mu"][k] * impulse[0]
        self.assertEqual(rows["state"][0], "open" if impulse[0] <= 0 else "sliding" if size >= (1 - 1e-6) * bound else "sticking")

    def test_velocities_are_those_of_the_problem(self):
        """u = Hᵀ M⁻¹ (H r + f) + w of the recorded impulses, by numpy."""
        self.open(self.page, f"step={self.fullest}&solver=recorded")
        frame = self.frame(self.fullest)
        m, n = int(frame.attrs["contacts"]), int(frame.attrs["dofs"])
        H = numpy.zeros((n, 3 * m))
        begin, row, blocks = (frame["H"][name][:] for name in ("column_begin", "row", "blocks"))
        for k in range(m):
            for e in range(begin[k], begin[k + 1]):
                H[3 * row[e]:3 * row[e] + 3, 3 * k:3 * k + 3] = blocks.reshape(-1, 3, 3)[e]
        u = H.T @ ((H @ frame["impulse"][:] + frame["f"][:]) / frame["M/diagonal"][:]) + frame["w"][:]
        shown = numpy.array(self.viewer("return [...viewer.frame.answers[viewer.chosen[0]].u];"))
        numpy.testing.assert_allclose(shown, u, rtol=1e-5, atol=1e-6 * numpy.abs(u).max())

    def test_two_solvers_show_what_solve_prints(self):
        step = self.fullest
        program("solve", self.file, "--step", step, "--solver", "pgs,nncg", "--csv", self.folder / "runs.csv", "--force")
        with open(self.folder / "runs.csv", encoding="utf-8") as file:
            rows = {row["solver"]: row for row in csv.DictReader(file)}
        self.open(self.page, f"step={step}&solver=pgs,nncg&colour=residual")
        self.assertEqual([node.text for node in self.find_all(".name")], ["pgs", "nncg"])
        for pane, name in enumerate(("pgs", "nncg")):
            words, row = self.words(f"answer-{pane}"), rows[name]
            self.assertIn(f"{row['status']} after {row['iterations']} iterations", words)
            self.assertAlmostEqual(float(words.split("residual ")[1].split()[0]) / float(row["residual"]), 1, delta=6e-4)
            answer = next(a for a in self.made["answers"] if a["step"] == step and a["solver"] == name)
            self.assertEqual(answer["residual"], float(row["residual"]))
            largest = self.viewer("return Math.max(...viewer.frame.answers[viewer.chosen[arguments[0]]].errors);", pane)
            self.assertAlmostEqual(largest / float(row["residual"]), 1, delta=1e-6)
        self.screenshot("replay_two.png")
        left, right = self.viewer("const s = viewer.stage, f = viewer.frame; return [s.screenOf(0, f, 0), s.screenOf(1, f, 0)];")
        self.assertAlmostEqual(right["x"] - left["x"], self.viewer("return viewer.stage.paneWidth();"), places=3)
        self.assertEqual(right["y"], left["y"])

    def test_the_iteration_slider_shows_how_residuals_fall(self):
        self.open(self.page, f"step={self.fullest}&solver=pgs,nncg&contact=0")
        slider = self.find("[data-part=iterations]")
        before = self.picture()
        slider.send_keys(browser.Keys.HOME)
        self.assertEqual(self.viewer("return [viewer.iteration, viewer.colouring.value];"), [0, "residual"])
        self.assertNotEqual(self.picture(), before)
        self.assertIn("residual, iteration 0", self.table())
        falls = self.viewer("""const a = viewer.frame.answers[0]; return a.iterates.map((_, i) => a.largestAt(i));""")
        self.assertAlmostEqual(falls[-1] / self.viewer("return viewer.frame.answers[0].description.residual;"), 1, delta=5e-4)
        self.assertGreater(falls[0], 1e3 * falls[-1])
        slider.send_keys(browser.Keys.END)
        self.assertIsNone(self.viewer("return viewer.iteration;"))
        self.assertNoErrors()

    def test_every_colour_and_glyph_draws(self):
        self.open(self.page, f"step={self.fullest}&solver=pgs,nncg")
        pictures = set()
        for colour in ("region", "island", "state", "impulse", "residual"):
            self.viewer("viewer.choose({colour: arguments[0]}); viewer.showContacts();", colour)
            pictures.add(self.picture())
        for part in ("arrows", "slips", "modes", "glass"):
            self.viewer(f"viewer.{part}.click();")
            pictures.add(self.picture())
        # in a bucket of balls of mass points every island is a region
        self.assertGreaterEqual(len(pictures), 8)
        self.assertNoErrors()

    def test_the_address_takes_a_step_and_solvers(self):
        step = self.steps[1]
        self.open(self.page, f"step={step.lstrip('0')}&solver=nncg")
        self.assertIn(step, self.words("frame-text"))
        self.assertEqual([node.text for node in self.find_all(".name") if node.is_displayed()], ["nncg"])
        self.run_js("location.hash = arguments[0];", f"step={self.steps[2]}&solver=pgs,recorded")
        self.wait(lambda: self.steps[2] in self.words("frame-text"))
        for strange in ("step=none&solver=none&colour=constructor&contact=1e9", "%", "step=&solver=,&contact=-1", "<img>"):
            self.open(self.page, strange)
            self.assertNoErrors()
            self.assertIn(self.fullest, self.words("frame-text"))

    def test_hostile_names_stay_words(self):
        scene, file, page = (self.folder / f"{HOSTILE}{end}" for end in (".toml", ".h5", ".html"))
        text = (browser.SOURCE / "configs/scenes/incline.toml").read_text(encoding="utf-8")
        scene.write_text(text, encoding="utf-8")
        program("record", scene, "-o", file, "--steps", "40", "--set", "time.record_every=20")
        program("replay", file, "-o", page)
        self.open(page)
        self.assertNoErrors()
        self.assertIn(HOSTILE, self.driver.title)
        self.assertEqual(self.find("h1").text, HOSTILE)

    def test_data_and_viewer_stand_in_a_page_of_ones_own(self):
        program("replay", self.file, "--steps", self.fullest, "--solver", "pgs", "-o", self.folder / "one.js")
        subprocess.run([browser.SOURCE / "scripts" / "replay_page", "--viewer", "-o", self.folder / "viewer.js"], check=True)
        page = self.folder / "own.html"
        page.write_text("""<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>own</title><main>
            <div id="replay" style="height: 300px"></div><div id="lost" style="height: 100px"></div></main>
            <script src="viewer.js"></script><script src="one.js"></script><script>
            SignoriniReplay.mount(document.getElementById("lost"), SignoriniReplayData.nothing);
            SignoriniReplay.mount(document.getElementById("replay"), SignoriniReplayData.one, {colour: "state", contact: 1})
              .then(() => { document.documentElement.dataset.ready = "1"; });</script></html>""", encoding="utf-8")
        self.open(page)
        self.assertNoErrors()
        self.assertEqual(self.viewer("return [viewer.marked, viewer.colouring.value, viewer.recording.steps.length];"), [1, "state", 1])
        self.assertIn("not on the page", self.find("#lost").text)
        self.assertNotIn("#", self.driver.current_url)


class Picture(unittest.TestCase):
    def test_a_frame_as_a_picture(self):
        if reason := why_not():
            self.skipTest(reason)
        with tempfile.TemporaryDirectory() as folder:
            file, picture = Path(folder) / "incline.h5", Path(folder) / "incline.png"
            program("record", browser.SOURCE / "configs/scenes/incline.toml", "-o", file, "--steps", "40", "--set", "time.record_every=20")
            with h5py.File(file) as recording:
                step = list(recording["steps"])[-1]
            program("replay", file, "--frame", step, "-o", picture)
            self.assertEqual(picture.read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
            self.assertEqual(program("replay", file, "--frame", step, "-o", picture, code=2).stdout, "")
            self.assertEqual(sorted(path.name for path in Path(folder).iterdir() if "part" in path.name or path.suffix == ".data"), [])


if __name__ == "__main__":
    unittest.main()
