"""A small untrained translator, made in milliseconds, for tests and to show attention before training."""

from functools import cache

from attnviz.models.translator.translator import Translator
from attnviz.text.tokenizer import TranslatorTokenizer
from attnviz.transformer.config import ModelConfig
from attnviz.transformer.transformer import Transformer

_WORDS = (
    "i you love machine learning is fun a big red dog jumped over small pond je t'aime un chien rouge a sauté petit"
)
_HAN = "我爱你机器学习真好玩"


def tiny_translator(seed: int = 0, *, n_heads: int = 5, n_layers: int = 2, d_k: int = 4) -> Translator:
    """Return a model with random weights and `n_layers` x `n_heads` heads of size `d_k`; equal seeds give
    equal models.
    """
    codec = _codec()
    config = ModelConfig(
        codec.vocab_size, d_model=n_heads * d_k, n_heads=n_heads, n_layers=n_layers, d_ff=2 * n_heads * d_k
    )
    model = Transformer(config).initialise(seed).requires_grad_(False).eval()
    return Translator(model, codec, model_id=f"tiny-{seed}", name="tiny")


@cache
def _codec() -> TranslatorTokenizer:
    from tokenizers import Tokenizer, models, trainers

    from attnviz.text.tokenizer import EOS, PAD, UNK, bos, pipeline

    tokenizer = Tokenizer(models.BPE(unk_token=UNK))
    tokenizer.normalizer, tokenizer.pre_tokenizer = pipeline(lowercase=False, spaced=True)
    specials = [PAD, UNK, EOS, bos("fr"), bos("zh")]
    trainer = trainers.BpeTrainer(vocab_size=160, special_tokens=specials, show_progress=False)
    tokenizer.train_from_iterator([_WORDS, "abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ", _HAN], trainer)
    return TranslatorTokenizer(tokenizer.to_str())
