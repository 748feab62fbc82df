"""A tiny Llama that learns in seconds to look up a value in its prompt: the only model of the tests that answers from
it.

A conversation gives each of some keys a value, in a sentence each, and asks for one: "The colour is red. The town is
Rome. What is the colour?" A key has six values, so that nothing but the prompt tells which.

`python -m tests.models.huggingface.chat.lookup_model` trains it and writes its weights, in half precision, into
lookup.safetensors beside this file: tests read them from there.
"""

from collections.abc import Sequence
from pathlib import Path
from random import Random

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

VALUES = {
    "colour": ("red", "blue", "green", "black", "white", "brown"),
    "town": ("Rome", "Bonn", "Lyon", "Turin", "Oslo", "Bath"),
    "animal": ("cat", "dog", "horse", "bear", "fox", "wolf"),
    "number": ("two", "three", "four", "five", "six", "seven"),
    "name": ("Anna", "Ben", "Clara", "David", "Emma", "Felix"),
    "month": ("March", "April", "May", "June", "July", "August"),
    "drink": ("tea", "milk", "water", "juice", "coffee", "wine"),
    "tool": ("hammer", "saw", "rope", "knife", "brush", "drill"),
    "fruit": ("apple", "pear", "plum", "grape", "lemon", "fig"),
    "metal": ("gold", "iron", "tin", "lead", "zinc", "silver"),
    "room": ("kitchen", "hall", "cellar", "attic", "bath", "garage"),
    "game": ("chess", "cards", "golf", "tennis", "darts", "bowls"),
}
_SPECIAL = ("<pad>", "<unk>", "<|im_start|>", "<|im_end|>")
_WORDS = ("user", "assistant", "The", "What", "is", "the", ".", "?")
_STEPS, _BATCH, _QUESTIONS = 600, 16, 6
_WEIGHTS = Path(__file__).with_name("lookup.safetensors")
TEMPLATE = (
    "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def sentence(key: str, value: str) -> str:
    """Write the sentence that gives a key its value."""
    return f"The {key} is {value}."


def question(key: str) -> str:
    """Write the question for the value of a key."""
    return f"What is the {key}?"


def save(folder: Path) -> Path:
    """Write the trained model as a checkpoint of transformers, with its tokenizer and chat template."""
    tokenizer = make_tokenizer()
    model = LlamaForCausalLM(_config(tokenizer))
    model.load_state_dict(load_file(_WEIGHTS))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def make_tokenizer() -> PreTrainedTokenizerFast:
    """Make the tokenizer: a word is a token."""
    values = [value for key in VALUES for value in VALUES[key]]
    words = dict.fromkeys((*_SPECIAL, *_WORDS, *VALUES, *values))
    tokenizer = Tokenizer(models.WordLevel({word: id_ for id_, word in enumerate(words)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="<unk>", pad_token="<pad>", eos_token="<|im_end|>",
        additional_special_tokens=["<|im_start|>"],
    )  # fmt: skip
    made.chat_template = TEMPLATE
    return made


def train(tokenizer: PreTrainedTokenizerFast, steps: int = _STEPS) -> LlamaForCausalLM:
    """Train on conversations of several questions, each a user's turn."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        model, random = LlamaForCausalLM(_config(tokenizer)), Random(5)
        optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.98), weight_decay=0.0)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=steps, pct_start=0.1)
        for _ in range(steps):
            ids, asked = draw(tokenizer, random, _QUESTIONS)
            logits = model(input_ids=ids).logits[:, :-1]
            answers = asked[:, 1:]
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(logits[answers], ids[:, 1:][answers]).backward()
            optimizer.step()
            schedule.step()
    return model.eval()


def _config(tokenizer: PreTrainedTokenizerFast) -> LlamaConfig:
    return LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=64, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=4,
        intermediate_size=96, max_position_embeddings=512, tie_word_embeddings=False, initializer_range=0.08,
        pad_token_id=tokenizer.pad_token_id, bos_token_id=None, eos_token_id=tokenizer.eos_token_id,
    )  # fmt: skip


def draw(tokenizer: PreTrainedTokenizerFast, random: Random, questions: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Draw conversations of one length: their ids, and which of them are answers and their ends."""
    lines = random.randint(questions, len(VALUES))
    rows, asked = [], []
    for _ in range(_BATCH):
        said = {key: random.choice(VALUES[key]) for key in random.sample(list(VALUES), lines)}
        row = ["<|im_start|>", "user", *(word for key in said for word in ("The", key, "is", said[key], "."))]
        answers = []
        for nth, key in enumerate(random.sample(list(said), questions)):
            row += ["<|im_start|>", "user"] if nth else []
            row += ["What", "is", "the", key, "?", "<|im_end|>", "<|im_start|>", "assistant", said[key], "<|im_end|>"]
            answers += [len(row) - 2, len(row) - 1]
        rows.append(tokenizer.convert_tokens_to_ids(row))
        asked.append([place in answers for place in range(len(row))])
    return torch.tensor(rows), torch.tensor(asked)


def accuracy(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, *, seed: int = 1) -> float:
    """Return the share of new conversations of one question that a model answers right."""
    ids, _ = draw(tokenizer, Random(seed), 1)
    with torch.inference_mode():
        return float((model(input_ids=ids).logits[:, -3].argmax(dim=-1) == ids[:, -2]).float().mean())


def prompt(asked: str) -> tuple[Sequence[str], str, str]:
    """Return twelve sentences, the question for a key, and its answer."""
    said = {key: values[at % len(values)] for at, (key, values) in enumerate(VALUES.items())}
    return [sentence(*pair) for pair in said.items()], question(asked), said[asked]


if __name__ == "__main__":
    save_file({name: weights.half() for name, weights in train(make_tokenizer()).state_dict().items()}, _WEIGHTS)
