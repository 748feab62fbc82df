"""The input fields of a model. They are apart from `protocol`, since pages ask before torch is imported."""

from enum import Enum


class Inputs(Enum):
    """The input fields of a model. Callers ask the properties, so that only this file names each kind of model."""

    TRANSLATION = ("src", "to", "tgt")
    SOURCE_AND_TARGET = ("src", "tgt")
    PAIR = ("text", "pair")
    PROMPT = ("text",)

    @property
    def names(self) -> tuple[str, ...]:
        """As messages name them, the first text first."""
        return self.value

    @property
    def has_language(self) -> bool:
        """Whether it must be told which language to write."""
        return "to" in self.names

    @property
    def takes_target(self) -> bool:
        """Whether a target can be given, instead of the one that it writes."""
        return "tgt" in self.names

    @property
    def is_pair(self) -> bool:
        """Whether it reads a text, and perhaps a second one beside it."""
        return self is Inputs.PAIR

    @property
    def is_prompt(self) -> bool:
        """Whether it reads a text and continues it."""
        return self is Inputs.PROMPT
