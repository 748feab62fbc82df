"""`python -m attnviz.toys [name …]`: make the shipped recordings again, all of them or only the named ones."""

import os
import sys


def main(names: list[str]) -> int:
    """Train the toys and write their recordings; the exit status is 2 for an unknown name."""
    from attnviz.toys import shipped
    from attnviz.toys.recording import record
    from attnviz.toys.storage import save

    experiments = {one.name: one for one in (*shipped.WITH_WEIGHTS, *shipped.WITHOUT_WEIGHTS)}
    if unknown := sorted(set(names) - set(experiments)):
        print(f"attnviz: there is no recording {unknown[0]!r}; there are {', '.join(experiments)}.", file=sys.stderr)
        return 2
    shipped.FOLDER.mkdir(exist_ok=True)
    for name in names or experiments:
        recording = record(experiments[name])
        save(recording, shipped.path(experiments[name]), weights=experiments[name] in shipped.WITH_WEIGHTS)
        scores = ", ".join(f"{score} {value:.3f}" for score, value in recording.scores.items())
        print(f"{name} ({shipped.path(experiments[name]).stat().st_size / 1e3:.0f} kB): {scores}", flush=True)
    return 0


if __name__ == "__main__":  # importing this module must not set variables that child processes inherit
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # before torch
    # The shipped recordings were made with AVX2. With AVX-512 the last bits differ, and so in the end does the run.
    os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx2")
    sys.exit(main(sys.argv[1:]))
