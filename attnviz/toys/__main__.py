"""`python -m attnviz.toys [name …]`: make the shipped recordings again, all of them or those that are named."""

import os
import sys


def main(names: list[str]) -> int:
    """Train and write; the exit status is 2 for a name that there is not."""
    from attnviz.toys import shipped
    from attnviz.toys.recording import record_run
    from attnviz.toys.run import TrainingRun
    from attnviz.toys.storage import save

    experiments = {one.name: one for one in (*shipped.WITH_WEIGHTS, *shipped.WITHOUT_WEIGHTS)}
    if unknown := sorted(set(names) - set(experiments)):
        print(f"attnviz: there is no recording {unknown[0]!r}; there are {', '.join(experiments)}.", file=sys.stderr)
        return 2
    shipped.FOLDER.mkdir(exist_ok=True)
    for name in names or experiments:
        recording = record_run(TrainingRun(experiments[name]))
        save(recording, shipped.path(experiments[name]), weights=experiments[name] in shipped.WITH_WEIGHTS)
        scores = ", ".join(f"{score} {value:.3f}" for score, value in recording.scores.items())
        print(f"{name} ({shipped.path(experiments[name]).stat().st_size / 1e3:.0f} kB): {scores}", flush=True)
    return 0


if __name__ == "__main__":  # an import of this module must not hand such settings on to child processes
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # before torch
    # What the shipped ones were made with: with AVX-512 the last bits are others, and in time so is the run.
    os.environ.setdefault("ATEN_CPU_CAPABILITY", "avx2")
    sys.exit(main(sys.argv[1:]))
