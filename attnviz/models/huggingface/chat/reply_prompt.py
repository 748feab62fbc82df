"""The prompt of a reply, and the stepper that generates the reply."""

from dataclasses import dataclass

from attnviz.models.huggingface.generate import CheckpointStepper, GenerationRules
from attnviz.models.huggingface.tokenization.spelling import EncodedText
from attnviz.models.huggingface.tokenizer import CheckpointTokenizer
from attnviz.text.spans import Span


@dataclass(frozen=True)
class ReplyPrompt:
    """An encoded prompt: its tokens, the spans of its turns, notes on cuts, and a stepper that has not read it yet.

    `places` is the number of tokens that the model can still generate after the prompt.
    """

    encoded: EncodedText
    spans: tuple[Span, ...]
    notes: tuple[str, ...]
    places: int
    stepper: CheckpointStepper
    text: CheckpointTokenizer
    rules: GenerationRules
