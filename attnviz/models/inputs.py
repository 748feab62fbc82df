"""The input fields of models, separate from `protocol` because pages need them before torch is imported."""

from enum import Enum


class Inputs(Enum):
    """The input fields of a model. Callers use the properties, so that only this file lists the kinds of models."""

    TRANSLATION = ("src", "to", "tgt")
    SOURCE_AND_TARGET = ("src", "tgt")
    PAIR = ("text", "pair")
    PROMPT = ("text",)
    IMAGE = ("image",)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the input fields, the main text first."""
        return self.value

    @property
    def has_language(self) -> bool:
        """Whether the model must be told which language to write."""
        return "to" in self.names

    @property
    def takes_target(self) -> bool:
        """Whether a target can be given instead of the model's own."""
        return "tgt" in self.names

    @property
    def is_pair(self) -> bool:
        """Whether the model reads a text and optionally a second one."""
        return self is Inputs.PAIR

    @property
    def is_image(self) -> bool:
        """Whether the model reads an image instead of a text."""
        return self is Inputs.IMAGE

    @property
    def is_prompt(self) -> bool:
        """Whether the model reads a text and continues it."""
        return self is Inputs.PROMPT
