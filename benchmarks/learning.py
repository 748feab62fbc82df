"""What a toy costs: an update, a look at it, its recording read, all on one thread; and the page that shows it."""

from collections.abc import Iterator

from attnviz.learning import shipped
from attnviz.learning.evaluation import evaluation
from attnviz.learning.experiment import Experiment
from attnviz.learning.run import TrainingRun, one_thread
from attnviz.learning.storage import load_recording
from benchmarks import learning_page
from benchmarks.report import Row
from benchmarks.timing import interleaved, median

UPDATES, RUNS = 20, 9
# Milliseconds: a run of 1,500 or 2,200 updates is to stay within 15 seconds, its sixty looks included.
MOST = {"french": 6, "reverse": 6, "twice": 5.5, "add": 4.5}
MOST_READING = 50  # of the 300 within which a recording is drawn


def rows() -> Iterator[Row]:
    """Every task that people train, its updates and one scoring on 128 held-out lines; then the largest recording."""
    runs = {name: TrainingRun(Experiment(name)) for name in MOST}

    def updates(run: TrainingRun) -> None:
        for _ in range(UPDATES):
            run.update()

    def look(run: TrainingRun) -> None:
        evaluation(run.network, run.held_out, run.words.rules)

    largest = max(shipped.FOLDER.glob("*.npz"), key=lambda path: path.stat().st_size)
    tasks = {f"learn {name}": lambda run=run: updates(run) for name, run in runs.items()}
    tasks |= {f"look {name}": lambda run=run: look(run) for name, run in runs.items()}
    with one_thread():
        seconds = interleaved(tasks | {"read": lambda: load_recording(largest)}, runs=RUNS)
    for name, most in MOST.items():
        yield Row(f"one update of {name}", 1e3 * median(seconds[f"learn {name}"]) / UPDATES, "ms", most)
        yield Row(f"{name} scored on 128 lines", 1e3 * median(seconds[f"look {name}"]), "ms")
    yield Row("the largest shipped recording read", 1e3 * median(seconds["read"]), "ms", MOST_READING)
    yield from learning_page.rows()
