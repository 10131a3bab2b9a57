"""Headless Chromium for tests of pages that open from disk, driven by Debian's python3-selenium and chromium-driver.

    class Pages(browser.BrowserTest):
        def test_it(self):
            self.open(path, "scene=bucket")       # waits until <html data-ready="1"> (or data-failed)
            self.assertNoErrors()

Where a package is absent, the tests of a class are skipped with a reason that names it.
"""

import base64
import json
import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
PROGRAM = shutil.which("chromium")
DRIVER = shutil.which("chromedriver")
AXE = Path(os.environ.get("SIGNORINI_AXE", "/usr/share/javascript/axe-core/axe.min.js"))  # no package of Debian 12 has it
READY_S = 60  # two loaded cores; the tests that hold a page to 2 s measure it themselves

sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "scripts"))

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait
except ImportError:
    webdriver = By = Keys = None


def missing():
    """Why nothing is driven here; empty where all is installed."""
    for found, package in ((webdriver, "python3-selenium"), (PROGRAM, "chromium"), (DRIVER, "chromium-driver")):
        if not found:
            return f"no browser is driven here: the package {package} is not installed (scripts/setup --tests)"
    return ""


def start(profile, width=1280, height=900, arguments=()):
    """A driver of headless Chromium without a network; WebGL runs on the processor."""
    options = webdriver.ChromeOptions()
    options.binary_location = PROGRAM
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--hide-scrollbars", "--enable-unsafe-swiftshader",
                     "--use-gl=angle", "--use-angle=swiftshader", "--proxy-server=127.0.0.1:9", f"--user-data-dir={profile}",
                     f"--window-size={width},{height}", *arguments):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    options.add_experimental_option("prefs", {"download.default_directory": str(Path(profile) / "downloads"), "download.prompt_for_download": False})
    return webdriver.Chrome(service=Service(DRIVER), options=options)


class BrowserTest(unittest.TestCase):
    """One browser for all tests of a class; `self.driver` is selenium's."""

    arguments = ()  # more of Chromium's, of a class

    @classmethod
    def setUpClass(cls):
        if reason := missing():
            raise unittest.SkipTest(reason)
        cls.home = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        cls.addClassCleanup(cls.home.cleanup)
        cls.driver = start(Path(cls.home.name) / "profile", arguments=cls.arguments)
        cls.addClassCleanup(cls.driver.quit)

    def resize(self, width, height, phone=False):
        """The page's own size in its pixels."""
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone})

    def prefer(self, **media):
        """prefer(prefers_color_scheme="dark"): media features of the reader."""
        features = [{"name": name.replace("_", "-"), "value": value} for name, value in media.items()]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def open(self, path, state="", ready=True):
        """The file from disk with state after #, and with an empty log; `ready`: waits until its scripts say that they are done."""
        self.driver.get("about:blank")
        self.driver.get_log("browser")
        self.driver.get(Path(path).resolve().as_uri() + (f"#{state}" if state else ""))
        if ready:
            self.wait(lambda: self.driver.execute_script("return document.documentElement.dataset.ready || document.documentElement.dataset.failed"),
                      f"{path} never says that it is ready")

    def wait(self, condition, words="", seconds=READY_S):
        return WebDriverWait(self.driver, seconds, poll_frequency=0.05).until(lambda _: condition(), words)

    def messages(self):
        return [f"{entry['level']}: {entry['message']}" for entry in self.driver.get_log("browser")]

    def assertNoErrors(self):
        """Neither an error nor a warning on the console."""
        self.assertEqual([line for line in self.messages() if line.startswith(("SEVERE", "WARNING"))], [])
        self.assertFalse(self.driver.execute_script("return document.documentElement.dataset.failed"), "the page says that it failed")

    def run_js(self, script, *values):
        return self.driver.execute_script(script, *values)

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def find_all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def print_pdf(self, path):
        """The page on paper, as a reader prints it."""
        made = self.driver.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True, "printBackground": True})
        Path(path).write_bytes(base64.b64decode(made["data"]))

    def screenshot(self, path, whole=False):
        """A picture of the window or of the whole page; SIGNORINI_SCREENSHOTS=DIR keeps those that tests name without a folder."""
        keep = os.environ.get("SIGNORINI_SCREENSHOTS")
        target = Path(path) if Path(path).is_absolute() else Path(keep or self.home.name) / path
        target.parent.mkdir(parents=True, exist_ok=True)
        made = self.driver.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": whole})
        target.write_bytes(base64.b64decode(made["data"]))
        return target

    def accessibility(self):
        """What hinders a reader with a keyboard or a screen reader: ["rule: element: what is wrong"]. axe-core's serious findings where SIGNORINI_AXE names
        its axe.min.js, and the checks of accessibility.js everywhere."""
        found = self.run_js(Path(__file__).with_name("accessibility.js").read_text(encoding="utf-8") + "\nreturn accessibilityFindings();")
        if AXE.is_file():
            self.run_js(AXE.read_text(encoding="utf-8"))
            result = self.driver.execute_async_script("const done = arguments[0]; axe.run({resultTypes: ['violations']}).then(r => done(JSON.stringify(r.violations)))")
            found += [f"axe {rule['id']}: {node['html'][:160]}: {rule['help']}" for rule in json.loads(result)
                      if rule["impact"] in ("serious", "critical") for node in rule["nodes"]]
        return found
