"""Find HAProxy and nginx for the tests of a cluster, or get them: `python tests/cluster/proxies.py`.

Debian's packages are installed where apt-get may. Without them this raises no error: the tests then say why they are
skipped.
"""

import os
import shutil
import subprocess
import sys

NAMES = ("haproxy", "nginx")


def find(name: str) -> str | None:
    """Return the path of a proxy, or None where it is not installed."""
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")


def install(names: list[str]) -> None:
    """Install proxies by apt-get, where that is allowed."""
    if names and os.name == "posix" and os.geteuid() == 0 and shutil.which("apt-get"):
        environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        for command in (("update", "-q"), ("install", "-qy", "--no-install-recommends", *names)):
            subprocess.run(("apt-get", *command), env=environment, check=False, stdout=subprocess.DEVNULL)


def main() -> int:
    """Say which proxies the tests will use; 0 even without one, for then they are skipped with the reason."""
    install([name for name in NAMES if find(name) is None])
    for name in NAMES:
        path = find(name)
        said = (
            f"Cluster tests will use {path}" if path else f"No {name}: its tests are skipped (apt-get install {name})."
        )
        sys.stdout.write(f"{said}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
