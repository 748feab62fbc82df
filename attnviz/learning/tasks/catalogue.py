"""The tasks there are."""

from attnviz.learning.tasks.addition import Add
from attnviz.learning.tasks.french import French
from attnviz.learning.tasks.letters import Reverse, Sort
from attnviz.learning.tasks.task import ToyTask
from attnviz.learning.tasks.twice import Twice

TASKS: dict[str, ToyTask] = {task.name: task for task in (French(), Reverse(), Sort(), Twice(), Add())}


def task(name: str) -> ToyTask:
    """Return a task by its name. Raises ValueError for another one."""
    if not isinstance(name, str) or name not in TASKS:
        raise ValueError(f"There is no task {str(name)[:40]!r}: there are {', '.join(TASKS)}.")
    return TASKS[name]
