"""A folder with a tiny decoder that has a chat template: its turns are marked by tokens of their own."""

from dataclasses import replace
from pathlib import Path

from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast

from tests.models.huggingface import checkpoints
from tests.models.huggingface.chat.templates import CHATML
from tests.models.huggingface.tokenizers_made import SENTENCES, byte_prompts

POSITIONS = 397
MARKS = ("<|im_start|>", "<|im_end|>")
QUESTION = SENTENCES[1]


def save(folder: Path, template: str | None = CHATML, *, positions: int = POSITIONS) -> Path:
    """Make the checkpoint and write it; without a template where `template` is None."""
    recipe = replace(checkpoints.DECODERS["qwen3"], tokenizer=lambda: _tokenizer(template))
    return checkpoints.save(folder, recipe, max_position_embeddings=positions)


def _tokenizer(template: str | None) -> PreTrainedTokenizerFast:
    own = Tokenizer.from_str(byte_prompts().backend_tokenizer.to_str())  # the other is every test's
    made = PreTrainedTokenizerFast(tokenizer_object=own, pad_token="<pad>", bos_token="<s>", eos_token=MARKS[1])
    made.add_special_tokens({"additional_special_tokens": list(MARKS)})
    made.chat_template = template
    return made
