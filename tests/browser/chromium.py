"""Find a Chromium for the browser tests, or get one: `python tests/browser/chromium.py`.

The first that works: one on the PATH; Debian's `chromium-headless-shell`, or its `chromium`, and `fonts-noto-cjk`,
where apt-get may install; Playwright's own download. Without one, this raises no error: the browser tests then say why
they are skipped. The headless shell is Chromium without its windows: the same pages for some 60 % of the CPU time.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
)
PACKAGES = (("chromium-headless-shell", "fonts-noto-cjk"), ("chromium", "fonts-noto-cjk"))  # the first that there is

# --no-sandbox: tests also run as root in containers. The rule keeps every other address out of reach.
ARGUMENTS = (
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)


def find() -> str | None:
    """Return the path of a browser that is there already, or None."""
    on_path = (path for name in NAMES if (path := shutil.which(name)))
    return next(on_path, None) or _playwrights_own()


def install() -> str | None:
    """Get a browser, by apt-get or else by Playwright; its path, or None where neither can."""
    if os.name == "posix" and os.geteuid() == 0 and shutil.which("apt-get"):
        _apt_get("update", "-q")
        any(_apt_get("install", "-qy", "--no-install-recommends", *packages) for packages in PACKAGES)
    if not find():
        subprocess.run((sys.executable, "-m", "playwright", "install", "chromium"), check=False)
    return find()


def _apt_get(*command: str) -> bool:
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(("apt-get", *command), env=environment, check=False, stdout=subprocess.DEVNULL)
    return done.returncode == 0


def _playwrights_own() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).is_file() else None


def main() -> int:
    """Say which browser the tests will use; 0 even without one, for then they are skipped with the reason."""
    path = find() or install()
    sys.stdout.write(f"Browser tests will use {path}\n" if path else "No browser: its tests will be skipped.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
