"""What decoding needs of a trained translator: its weights and vocabulary, and where it runs."""

from typing import Protocol

import torch
from torch import Tensor

from attnviz.text.tokenizer import Encoded, TranslatorTokenizer
from attnviz.transformer.decoding import Vocabulary
from attnviz.transformer.draft import DraftModel
from attnviz.transformer.transformer import Transformer


class Pretrained(Protocol):
    """A Transformer with the vocabulary that it was trained with; the `Translator` is one."""

    model: Transformer
    codec: TranslatorTokenizer
    model_id: str
    draft: DraftModel | None

    @property
    def device(self) -> torch.device:
        """Where it runs."""
        ...

    @property
    def dtype(self) -> torch.dtype:
        """In what it computes."""
        ...

    @property
    def vocabulary(self) -> Vocabulary:
        """What decoding must know of the ids."""
        ...

    def ids(self, encoded: Encoded) -> Tensor:
        """A batch of one, on the model's device."""
        ...
