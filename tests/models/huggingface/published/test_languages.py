"""Models that translate between many languages: which is written is said before the source, and holds for all that
follows. Held against what transformers makes of the same languages.
"""

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import pytest
import torch
from transformers.models.m2m_100.modeling_m2m_100 import shift_tokens_right as m2m_shift
from transformers.models.mbart import modeling_mbart

from attnviz.models.huggingface import HuggingFaceModel, load
from attnviz.text.limits import TextError
from tests.models.huggingface.checkpoints import reference
from tests.models.huggingface.families import checkpoint, tokenizer_of
from tests.models.huggingface.published import pieces
from tests.models.huggingface.published.test_reading import TEXTS
from tests.models.huggingface.refused import CPU, refusal

SOURCE, TARGET = "I love you.", "Je t'aime."
TO = {
    "M2M100": ("de", "fr"),
    "NLLB": ("deu_Latn", "fra_Latn"),
    "mBART": ("de_DE", "fr_XX"),
    "mBART-50": ("de_DE", "fr_XX"),
}
MANY = pytest.mark.parametrize("name", TO)


@pytest.fixture(scope="module")
def model(family: Callable[[str], Path]) -> Callable[[str], HuggingFaceModel]:
    @cache
    def load_once(name: str) -> HuggingFaceModel:
        found = load(family(name), **CPU)
        assert isinstance(found, HuggingFaceModel)
        return found

    return load_once


@MANY
def test_the_source_names_both_languages_and_is_read_as_transformers_reads_it(name, family, model):
    from_, to = TO[name]
    theirs = tokenizer_of(family(name))
    theirs.src_lang, theirs.tgt_lang = from_, to
    sentence = model(name).trace(f">>{from_}:{to}<< {SOURCE}", tgt_text=TARGET).sentences[0]
    assert sentence.src_text == SOURCE
    assert [token.id for token in sentence.src] == theirs(SOURCE)["input_ids"]
    labels = torch.tensor([theirs(text_target=TARGET)["input_ids"]])
    shift = {"mBART": modeling_mbart.shift_tokens_right}.get(name, partial(m2m_shift, decoder_start_token_id=2))
    fed = shift(labels, theirs.pad_token_id)[0].tolist()
    ours = [token.id for token in sentence.tgt]
    assert ours[: len(fed)] == fed
    assert ours == fed or ours[:-1] == fed  # mBART's is fed its end, and would say its language after it


@MANY
def test_a_target_is_written_in_the_language_that_is_named(name, family, model):
    _, to = TO[name]
    text = f">>{to}<< {SOURCE}"
    trace = model(name).trace(text)
    ids = [token.id for token in trace.sentences[0].tgt]
    peer, theirs = reference(family(name)), tokenizer_of(family(name))
    language = theirs.lang_code_to_id[to] if hasattr(theirs, "lang_code_to_id") else theirs.convert_tokens_to_ids(to)
    how = {"decoder_start_token_id": language} if name == "mBART" else {"forced_bos_token_id": language}
    src = torch.tensor([[token.id for token in trace.sentences[0].src]])
    made = peer.generate(src, do_sample=False, num_beams=1, max_new_tokens=6, **how)[0].tolist()
    assert ids[: len(made)] == made
    assert language in ids[:2]
    steps = list(model(name).stepwise(text))
    assert [token.id for token in (*steps[-1].prefix, steps[-1].token)] == ids
    assert model(name).generator(trace).prompt_ids[0].tolist() == ids[: ids.index(language) + 1]
    assert not any("named" in note or "begin the source" in note for note in trace.info.notes)


@MANY
def test_a_source_without_a_language_says_what_was_written_and_how_to_ask_for_another(name, model):
    (note,) = (note for note in model(name).trace(SOURCE).info.notes if "begin the source with >>" in note)
    says = {"M2M100": "The target is in fr.", "NLLB": "No target language was chosen."}
    assert says.get(name, "The target is in ro_RO.") in note


@MANY
def test_a_language_said_beside_the_text_is_that_of_a_mark(name, model):
    one, (_, to) = model(name), TO[name]
    assert to in one.languages
    marked, beside = one.trace(f">>{to}<< {SOURCE}"), one.trace(SOURCE, to=to)
    assert beside.sentences == marked.sentences
    assert beside.to == marked.to == to
    assert beside.info.notes == marked.info.notes
    stepped = [
        [step.token for step in one.stepwise(*text, **how)]
        for text, how in (((f">>{to}<< {SOURCE}",), {}), ((SOURCE,), {"to": to}))
    ]
    assert stepped[0] == stepped[1]
    with pytest.raises(TextError, match="The model does not know the language “tlh”"):
        one.trace(SOURCE, to="tlh")


@MANY
def test_the_language_that_a_model_writes_by_itself_is_known(name, model):
    one = model(name)
    own = {"M2M100": "fr", "NLLB": ""}.get(name, "ro_RO")
    assert one.own_language == own
    if own:
        assert one.trace(SOURCE).sentences == one.trace(SOURCE, to=own).sentences


@MANY
def test_a_language_that_the_model_has_not_is_said_and_a_mark_alone_is_no_sentence(name, model):
    with pytest.raises(TextError, match=r"The model does not know the language “tlh”. It has a"):
        model(name).trace(f">>tlh<< {SOURCE}")
    with pytest.raises(TextError, match="The sentence is empty"):
        model(name).trace(f">>{TO[name][1]}<< ")


def test_marian_is_told_its_language_by_a_token_of_the_text(model):
    marian = model("Marian")
    assert marian.languages == ("deu", "fra")
    assert marian.trace(SOURCE, to="fra").sentences == marian.trace(f">>fra<< {SOURCE}").sentences
    assert marian.trace(f">>deu<< {SOURCE}", to="fra").sentences == marian.trace(f">>deu<< {SOURCE}").sentences
    with pytest.raises(TextError, match=r"The model does not know the language “tlh”. It has "):
        marian.trace(SOURCE, to="tlh")


def test_marian_reads_its_own_mark_and_writes_with_the_other_languages_pieces(family, model):
    marian, theirs, german = model("Marian"), tokenizer_of(family("Marian")), "Ich liebe dich, und der Zug."
    trace = marian.trace(f">>fra<< {SOURCE}", tgt_text=german)
    src, tgt = trace.sentences[0].src, trace.sentences[0].tgt
    assert (src[0].text, src[0].id) == (">>fra<<", theirs.encoder[">>fra<<"])
    assert [token.id for token in src] == theirs(f">>fra<< {SOURCE}")["input_ids"]
    assert [token.id for token in tgt[1:]] == theirs(text_target=german)["input_ids"]
    assert [token.id for token in tgt[1:]] != theirs(german)["input_ids"], "the source's file would cut it otherwise"
    assert [token.id for token in marian.encode_target(german)] == theirs(text_target=german)["input_ids"][:-1]


def test_marians_targets_are_read_as_transformers_reads_them(family, model):
    theirs = tokenizer_of(family("Marian"))
    for text in TEXTS:
        assert list(model("Marian").text.encode_target(text).ids) == theirs(text_target=text)["input_ids"], text


def test_nllbs_sentencepiece_file_alone_lacks_the_languages_and_is_refused(tmp_path):
    sizes = {"d_model": 30, "encoder_layers": 1, "decoder_layers": 1, "max_position_embeddings": 61}
    heads = {"encoder_attention_heads": 5, "decoder_attention_heads": 3, "encoder_ffn_dim": 7, "decoder_ffn_dim": 7}
    folder = checkpoint(
        tmp_path / "nllb", model="M2M100ForConditionalGeneration", sizes=sizes | heads, tokenizer=pieces.nllb_pieces,
        start="</s>",
    )  # fmt: skip
    assert refusal(folder).startswith(
        "The tokenizer puts its unknown token around each text, because its files do not contain"
    )
