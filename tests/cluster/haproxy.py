"""Find HAProxy for the tests of a cluster, or get it: `python tests/cluster/haproxy.py`.

Debian's package is installed where apt-get may. Without HAProxy this raises no error: the tests then say why they
are skipped.
"""

import os
import shutil
import subprocess
import sys


def install() -> str | None:
    """Get HAProxy by apt-get; its path, or None where that cannot be."""
    if os.name == "posix" and os.geteuid() == 0 and shutil.which("apt-get"):
        environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        for command in (("update", "-q"), ("install", "-qy", "--no-install-recommends", "haproxy")):
            subprocess.run(("apt-get", *command), env=environment, check=False, stdout=subprocess.DEVNULL)
    return shutil.which("haproxy")


def main() -> int:
    """Say which HAProxy the tests will use; 0 even without one, for then they are skipped with the reason."""
    path = shutil.which("haproxy") or install()
    said = f"Cluster tests will use {path}" if path else "No HAProxy: its tests are skipped (apt-get install haproxy)."
    sys.stdout.write(f"{said}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
