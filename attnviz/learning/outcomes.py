"""The question before a run, and sentences about its outcome. All numbers come from the recording."""

from collections.abc import Mapping

from attnviz.toys.experiment import Experiment

GUESSES = ("yes", "some", "no")  # almost all, some, or almost none of the held-out lines are right
_MOST, _FEW = 0.9, 0.1
_DOES = {
    "french": "translate sentences it has never seen, on its own",
    "reverse": "reverse lines it has never seen, on its own",
    "sort": "sort letters it has never seen, on its own",
    "twice": "repeat lines it has never seen, on its own",
    "add": "add numbers it has never seen, on its own",
    "digits": "read images of digits it has never seen",
}


def guesses(task: str) -> dict[str, str]:
    """Return the guesses that the visitor can choose from, before the training of a task's toy."""
    lines, _ = _nouns(task)
    return {"yes": f"Yes, almost all {lines}", "some": f"Some {lines}", "no": "No, almost none"}


def _nouns(task: str) -> tuple[str, str]:
    """Return what a task's toy is scored on, as a plural and a singular noun: "lines" and "line", or "images" and
    "image".
    """
    return ("images", "image") if task == "digits" else ("lines", "line")


def question(experiment: Experiment, scores: Mapping[str, float] | None) -> str:
    """Return the question that the visitor answers before a training: what will the trained toy be able to do?

    If the final training loss is known, the question mentions it.
    """
    does = _DOES[experiment.task]
    if scores and "loss" in scores:
        return f"The training loss ends at {scores['loss']:.4f}. Will it {does}?"
    return f"After training: will it {does}?"


def came_of_it(own_prefix: float) -> str:
    """Return which guess was right, "yes", "some" or "no", from the share of held-out lines that the toy writes
    correctly.
    """
    return "yes" if own_prefix >= _MOST else "no" if own_prefix <= _FEW else "some"


def outcome(scores: Mapping[str, float], held_out: int) -> str:
    """Return a sentence about a run's scores on `held_out` held-out lines; "" without scores."""
    if not {"own_prefix", "teacher_prefix", "loss"} <= set(scores):
        return ""
    if "accuracy" in scores:
        right = round(scores["accuracy"] * held_out)
        return f"It read {right} of {held_out} held-out images right. Training loss {scores['loss']:.4f}."
    own, teacher = (round(scores[name] * held_out) for name in ("own_prefix", "teacher_prefix"))
    return (
        f"On its own prefix it wrote {own} of {held_out} held-out lines right; on the teacher’s prefix, {teacher}. "
        f"Training loss {scores['loss']:.4f}."
    )


def verdict(guess: str, scores: Mapping[str, float], task: str = "french") -> str:
    """Return a sentence that compares the guess with the outcome; "" without a guess."""
    if guess not in GUESSES or "own_prefix" not in scores:
        return ""
    lines, line = _nouns(task)
    said = {"yes": "it will", "some": f"some {lines}", "no": "it won’t"}
    did = {"yes": f"almost all {lines}", "some": f"some {lines}", "no": f"almost no {line}"}
    came = came_of_it(scores["own_prefix"])
    return f"You said: {said[guess]}. {'Right' if guess == came else f'It gets {did[came]} right'}."


def more_measures(scores: Mapping[str, float]) -> list[str]:
    """Return sentences about further scores, for the switches to which they belong."""
    said = []
    if "accuracy_shuffled" in scores:
        said.append(
            "If the patches of each image are shuffled, it reads "
            f"{scores['accuracy_shuffled']:.0%} of the images right. Of the images that it was trained on, it reads "
            f"{scores['accuracy_seen']:.0%} right."
        )
    if "grammatical" in scores:
        said.append(f"When words are sampled, {scores['grammatical']:.0%} of what it writes is grammatical.")
    if "own_prefix_1_more_pad" in scores:
        said.append(
            "The share of lines that it writes without a mistake is "
            f"{scores['own_prefix_1_more_pad']:.0%} with one more <pad>, "
            f"{scores['own_prefix_20_more_pad']:.0%} with twenty more, and "
            f"{scores['own_prefix_alone']:.0%} alone and without padding."
        )
    if scores.get("own_prefix_seen", 0) > scores.get("own_prefix", 1) + 0.05:
        said.append(f"Of the lines that it was trained on, it writes {scores['own_prefix_seen']:.0%} right.")
    return said
