"""The beginning of a reply: what it follows, and what writes it."""

from dataclasses import dataclass

from attnviz.models.huggingface.generate import CheckpointStepper, GenerationRules
from attnviz.models.huggingface.tokenization.spelling import EncodedText
from attnviz.models.huggingface.tokenizer import CheckpointTokenizer
from attnviz.text.spans import Span


@dataclass(frozen=True)
class ReplyPrompt:
    """A prompt that was encoded: its tokens, the turns among them, notes on what was cut, and a stepper that has read
    nothing yet. `places` is how many tokens the model has room for after it.
    """

    encoded: EncodedText
    spans: tuple[Span, ...]
    notes: tuple[str, ...]
    places: int
    stepper: CheckpointStepper
    text: CheckpointTokenizer
    rules: GenerationRules
