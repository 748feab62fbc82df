"""A lesson of choices, whose answers need no model: in step n the option numbered n modulo 3 is right."""

from attnviz.lessons import reading
from attnviz.lessons.lesson import Lesson, LessonStep
from attnviz.lessons.question import Question

_HEAD = "---\ntitle: Choices\nminutes: 5\nfor: tests\nlanguage: en\n---\nNothing to see.\n"
_STEP = """
## Step {number}

The text of step {number}.

```question
kind: choice
ask: Which one?
options: [red, green, blue]
right: {right}
why: Because {number}.
```
"""


def choices_file(steps: int) -> str:
    """Return the file of a lesson of so many steps."""
    parts = [_STEP.format(number=at + 1, right=at % 3 + 1) for at in range(steps)]
    return _HEAD + "".join(parts)


def choices(steps: int) -> Lesson:
    """Return the lesson."""
    return reading.read(choices_file(steps), name="choices")


def one_step_lesson(question: Question) -> Lesson:
    """Make a lesson of one step, which asks the question."""
    return Lesson("one", "One", 5, "tests", "en", (LessonStep("Only", "", None, question),))
