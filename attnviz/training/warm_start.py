"""Beginning from a trained model instead of from chance, when the vocabulary has changed since."""

import torch
from torch import Tensor

from attnviz.text.tokenizer import TranslatorTokenizer
from attnviz.transformer.transformer import Transformer

EMBEDDING = "embedding.weight"


@torch.no_grad()
def warm_start(
    model: Transformer, codec: TranslatorTokenizer, teacher: Transformer, its_codec: TranslatorTokenizer
) -> None:
    """Copy a trained model's weights into `model`, whose vocabulary may be another.

    A piece that both vocabularies hold keeps its vector; a new one begins as the mean of the pieces that spelled it
    before, a new language as the mean of the languages there were. Where `model` has more feed-forward units, the
    additional ones keep their random weights on the way in and write nothing yet (`W_2` is zero), so that both compute
    the same (Chen et al. 2016, Net2Net). Raises ValueError where the layers do not fit otherwise.
    """
    own = {name: tuple(tensor.shape) for name, tensor in model.state_dict().items() if name != EMBEDDING}
    learned = _widen(teacher, model)
    vectors = learned.pop(EMBEDDING)
    shapes = {name: tuple(tensor.shape) for name, tensor in learned.items()}
    if misfit := sorted(name for name in own.keys() | shapes.keys() if own.get(name) != shapes.get(name)):
        raise ValueError(
            f"The model to begin from differs in {misfit[0]!r}: {shapes.get(misfit[0], 'it has none')}, where the "
            f"recipe asks for {own.get(misfit[0], 'none')}. Give its d_model, n_layers and d_ff in --recipe."
        )
    languages = [its_codec.bos_id(to) for to in its_codec.languages]
    rows = [vectors[list(its_codec.spell(piece)) or languages].mean(0) for piece in codec.pieces]
    model.load_state_dict(learned | {EMBEDDING: torch.stack(rows)})


def _widen(teacher: Transformer, model: Transformer) -> dict[str, Tensor]:
    """Return the teacher's weights, with as many feed-forward units as `model` where that one only has more of them."""
    learned = teacher.state_dict()
    if teacher.config.d_model != model.config.d_model or teacher.config.d_ff >= model.config.d_ff:
        return learned
    for name, own in model.state_dict().items():
        if ".feed_forward." in name and name in learned:
            wide = own.clone() if ".W_1." in name else torch.zeros_like(own)
            wide[tuple(map(slice, learned[name].shape))] = learned[name]
            learned[name] = wide
    return learned
