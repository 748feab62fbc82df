"""Check the inputs of a checkpoint: texts, a pair, targets, tokens to write."""

from collections.abc import Sequence
from dataclasses import dataclass

from attnviz.models.huggingface.network.network import Family
from attnviz.models.inputs import Inputs
from attnviz.text.limits import require_count, require_text

_INPUTS = {"encoder": Inputs.PAIR, "decoder": Inputs.PROMPT, "encoder-decoder": Inputs.SOURCE_AND_TARGET}
Texts = str | Sequence[str]


@dataclass(frozen=True)
class InputCheck:
    """A checkpoint as far as its inputs go; `writes` is False for an encoder and without a head over the vocabulary."""

    name: str
    family: Family
    writes: bool

    @property
    def inputs(self) -> Inputs:
        """Its input fields: text and perhaps a second sentence, a prompt, or source and target."""
        return _INPUTS[self.family]

    def check(
        self, texts: list[str], *, pairs: Sequence[str] = (), targets: Sequence[str] = (), new_tokens: int | None = None
    ) -> None:
        """Raise TextError for an empty sentence, ValueError for inputs that this checkpoint does not take."""
        if not texts:
            raise ValueError("There is no text: give a sentence, or several.")
        for text in (*texts, *pairs):
            require_text(text)
        taken = ", ".join(self.inputs.names)
        if pairs and not self.inputs.is_pair:
            raise ValueError(f"A pair of sentences is for an encoder; {self.name} takes {taken}.")
        if pairs and len(pairs) != len(texts):
            raise ValueError(f"There are {len(texts)} texts and {len(pairs)} second sentences: give one for each.")
        if targets and not self.inputs.takes_target:
            raise ValueError(f"{self.name} takes no target: its inputs are {taken}.")
        if targets and len(targets) != len(texts):
            raise ValueError(f"There are {len(texts)} sources and {len(targets)} targets: give one for each.")
        blank = [at for at, target in enumerate(targets) if not target.strip()]
        if 0 < len(blank) < len(targets):
            raise ValueError(f"Target {blank[0]} is empty and others are not: give all of them, or none.")
        self._check_count(texts, new_tokens)

    def _check_count(self, texts: list[str], new_tokens: int | None) -> None:
        require_count(new_tokens)
        if new_tokens is not None and not self.inputs.is_prompt:
            raise ValueError(f"{self.name} takes no new_tokens: only a decoder writes after its prompt.")
        if new_tokens and len(texts) > 1:
            raise ValueError("One prompt at a time is continued: give a single text, or new_tokens=0.")
        if new_tokens and not self.writes:
            raise ValueError(f"{self.name} has no output over a vocabulary, so it cannot continue a prompt.")


def split_pairs(text: Texts | Sequence[tuple[str, str]], pair: Texts | None) -> tuple[list[str], list[str]]:
    """Split texts and their second sentences into two lists: from a text and a second one, from two lists, or from a
    list of pairs.

    Raises ValueError for what is neither text nor pair.
    """
    texts: list = [text] if isinstance(text, str) else list(text)
    if any(not isinstance(each, str) for each in texts):
        if pair is not None or not all(_is_pair(each) for each in texts):
            raise ValueError(
                "Give texts, or pairs of two texts each: a list of both, or of something else, is not read."
            )
        return [first for first, _ in texts], [second for _, second in texts]
    return texts, [] if pair is None else [pair] if isinstance(pair, str) else list(pair)


def _is_pair(each: object) -> bool:
    return isinstance(each, tuple | list) and len(each) == 2 and all(isinstance(part, str) for part in each)
