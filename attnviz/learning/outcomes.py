"""The question before a run, and sentences about its outcome. All numbers come from the recording."""

from collections.abc import Mapping

from attnviz.toys.experiment import Experiment

# Possible guesses, and their share of correct held-out lines.
GUESSES = {"yes": "Yes, almost all lines", "some": "Some lines", "no": "No, almost none"}
_SAID = {"yes": "it will", "some": "some lines", "no": "it won’t"}
_DID = {
    "yes": "It gets almost all lines right",
    "some": "It gets some lines right",
    "no": "It gets almost no line right",
}
_MOST, _FEW = 0.9, 0.1
_DOES = {
    "french": "translate sentences it has never seen",
    "reverse": "reverse lines it has never seen",
    "sort": "sort letters it has never seen",
    "twice": "repeat lines it has never seen",
    "add": "add numbers it has never seen",
}


def question(experiment: Experiment, scores: Mapping[str, float] | None) -> str:
    """Return the question before a run, with the run's final loss if known."""
    does = _DOES[experiment.task]
    if scores and "loss" in scores:
        return f"The training loss ends at {scores['loss']:.4f}. Will it {does}, on its own?"
    return f"After training: will it {does}, on its own?"


def came_of_it(own_prefix: float) -> str:
    """Return the correct guess, from the share of held-out lines that the run writes correctly from its own prefix."""
    return "yes" if own_prefix >= _MOST else "no" if own_prefix <= _FEW else "some"


def outcome(scores: Mapping[str, float], held_out: int) -> str:
    """Return a sentence about a run's scores on `held_out` held-out lines; "" without scores."""
    if not {"own_prefix", "teacher_prefix", "loss"} <= set(scores):
        return ""
    own, teacher = (round(scores[name] * held_out) for name in ("own_prefix", "teacher_prefix"))
    return (
        f"On its own prefix it wrote {own} of {held_out} held-out lines right; on the teacher’s prefix, {teacher}. "
        f"Training loss {scores['loss']:.4f}."
    )


def verdict(guess: str, scores: Mapping[str, float]) -> str:
    """Return a sentence that compares the guess with the outcome; "" without a guess."""
    if guess not in _SAID or "own_prefix" not in scores:
        return ""
    came = came_of_it(scores["own_prefix"])
    return f"You said: {_SAID[guess]}. {'Right' if guess == came else _DID[came]}."


def more_measures(scores: Mapping[str, float]) -> list[str]:
    """Return sentences about further scores, for the switches to which they belong."""
    said = []
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
