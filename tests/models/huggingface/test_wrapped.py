"""Models in memory inside something else: PEFT, torch.compile, DataParallel, a pipeline, another module."""

from pathlib import Path

import peft
import pytest
import torch
import transformers

import attnviz
from attnviz.models.huggingface import ModelError
from tests.models.huggingface import checkpoints

pytestmark = pytest.mark.filterwarnings(  # PEFT 0.21.2 asks for a property that transformers 5.23 has renamed
    "ignore:`is_gradient_checkpointing` is deprecated:FutureWarning"
)
TEXT = "The quick brown fox jumps over the dog."
CLOSE = {"atol": 5e-5, "rtol": 5e-5}
LM = {"task_type": "CAUSAL_LM"}
ATTENTION = {"target_modules": ["q_proj", "v_proj"]}


@pytest.fixture
def llama(checkpoint):
    """Load a model and its tokenizer by transformers."""
    folder = checkpoint("llama")
    return checkpoints.reference(folder), transformers.AutoTokenizer.from_pretrained(folder)


def random_adapter(model, config):
    """Add an adapter whose weights are all away from where they begin, which is without effect."""
    adapted = peft.get_peft_model(model, config).eval()
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for parameter in (one for one in adapted.parameters() if one.requires_grad):
            parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.3)
    return adapted


@torch.inference_mode()
def own_pass(model, trace, **how):
    """Run the model that was handed over, wrapper and all, on the ids of a trace."""
    ids = torch.tensor([[token.id for token in trace.tokens("tgt")]])
    return model(input_ids=ids, attention_mask=torch.ones_like(ids), **({"output_attentions": True} | how))


@pytest.mark.parametrize(
    "config",
    [
        peft.LoraConfig(**ATTENTION, **LM),
        peft.LoraConfig(use_dora=True, **ATTENTION, **LM),
        peft.IA3Config(target_modules=["k_proj", "down_proj"], feedforward_modules=["down_proj"], **LM),
    ],
    ids=lambda config: type(config).__name__,
)
def test_adapters_in_the_layers_are_shown_as_pefts_own_forward_computes_them(llama, config):
    model, text = llama
    bare = attnviz.load(model, text).trace(TEXT, new_tokens=0)
    adapted = random_adapter(model, config)
    found = attnviz.load(adapted, text).trace(TEXT, new_tokens=0)
    expected = own_pass(adapted, found)
    torch.testing.assert_close(found.logits, expected.logits, **CLOSE)
    assert (found.logits - bare.logits).abs().max() > 1e-3
    torch.testing.assert_close(found.attn("decoder_self"), torch.cat(expected.attentions), **CLOSE)
    assert not found.info.notes


def test_attention_to_learned_positions_beside_the_texts_is_a_note(checkpoint):
    model, text = (checkpoints.reference(checkpoint("gpt2")),
                   transformers.AutoTokenizer.from_pretrained(checkpoint("gpt2")))  # fmt: skip
    config = peft.AdaptionPromptConfig(adapter_len=4, adapter_layers=2, **LM)
    adapted = random_adapter(model, config)
    found = attnviz.load(adapted, text).trace(TEXT, new_tokens=0)
    torch.testing.assert_close(found.logits, own_pass(adapted, found, output_attentions=False).logits, **CLOSE)
    said = "In the last 2 layers, an adapter (ADAPTION_PROMPT) adds attention to 4 learned positions"
    assert [note[: len(said)] for note in found.info.notes] == [said]


@pytest.mark.parametrize(
    ("config", "method"),
    [
        (peft.PromptTuningConfig(num_virtual_tokens=4, **LM), "PROMPT_TUNING"),
        (peft.PrefixTuningConfig(num_virtual_tokens=4, **LM), "PREFIX_TUNING"),
        (peft.PromptEncoderConfig(num_virtual_tokens=4, encoder_hidden_size=8, **LM), "P_TUNING"),
        (peft.CPTConfig(cpt_token_ids=[5, 6, 7, 8], cpt_tokens_type_mask=[1, 2, 3, 4], **LM), "CPT"),
        (peft.CartridgeConfig(num_virtual_tokens=4, **LM), "CARTRIDGE"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_virtual_tokens_are_refused_by_the_name_of_their_method(llama, config, method):
    model, text = llama
    adapted = peft.get_peft_model(model, config)
    said = (
        rf"^The adapter \({method}\) puts 4 virtual tokens before each text, .*get_base_model\(\) is the model without"
    )
    with pytest.raises(ModelError, match=said):
        attnviz.load(adapted, text)
    assert attnviz.load(adapted.get_base_model(), text).kinds


def test_adapters_that_follow_the_text_are_refused_by_name(llama, tmp_path):
    model, text = llama
    activated = peft.get_peft_model(model, peft.LoraConfig(alora_invocation_tokens=[7, 8], **ATTENTION, **LM))
    with pytest.raises(ModelError, match="acts only after certain tokens of a text"):
        attnviz.load(activated, text)
    model = activated.unload()
    assert attnviz.load(model, text).kinds
    peft.get_peft_model(model, peft.LoraConfig(**ATTENTION, **LM)).save_pretrained(tmp_path)
    model = checkpoints.reference(Path(model.name_or_path))
    model.config.use_cache = False  # as X-LoRA asks
    mixed = peft.get_peft_model(model, peft.XLoraConfig(hidden_size=84, adapters={"0": str(tmp_path)}, **LM))
    with pytest.raises(ModelError, match=r"^The adapter \(XLORA\) computes new weights for its LoRAs for each text"):
        attnviz.load(mixed, text)


def test_a_wrapper_that_computes_something_else_is_refused_by_its_name(llama, monkeypatch):
    """An adapter of a kind that nobody has thought of, which changes what goes into the model."""
    model, text = llama
    adapted = random_adapter(model, peft.LoraConfig(**ATTENTION, **LM))
    right = peft.PeftModelForCausalLM.forward
    monkeypatch.setattr(
        peft.PeftModelForCausalLM, "forward", lambda self, input_ids, **how: right(self, input_ids.flip(1), **how)
    )
    with pytest.raises(
        ModelError, match=r"^PeftModelForCausalLM computes something else than the LlamaForCausalLM in it"
    ):
        attnviz.load(adapted, text)


class Holder(torch.nn.Module):
    """A module that holds a model under a name, as those of sentence-transformers and trl do."""

    def __init__(self, **held) -> None:
        super().__init__()
        for name, module in held.items():
            setattr(self, name, module)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda model, text: torch.compile(model, backend="eager"),
        lambda model, text: torch.nn.DataParallel(model),
        lambda model, text: transformers.pipeline("text-generation", model=model, tokenizer=text),
    ],
    ids=["compile", "DataParallel", "pipeline"],
)
def test_what_computes_the_same_is_unwrapped(llama, wrap):
    model, text = llama
    held, expected = attnviz.load(wrap(model, text), text), attnviz.load(model, text)
    assert torch.equal(held.trace(TEXT).attn("decoder_self"), expected.trace(TEXT).attn("decoder_self"))
    assert held.model_id == expected.model_id


@pytest.mark.parametrize(
    ("wrap", "where"),
    [
        (lambda model: Holder(pretrained_model=model), ".pretrained_model"),
        (lambda model: torch.nn.Sequential(Holder(auto_model=model)), "[0].auto_model"),
        (lambda model: type("Trainer", (), {"model": model})(), ".model"),
    ],
    ids=["value head", "sentence transformer", "trainer"],
)
def test_the_part_to_hand_over_is_named(llama, wrap, where):
    model, text = llama
    with pytest.raises(ModelError) as refused:
        attnviz.load(wrap(model), text)
    assert str(refused.value).endswith(f": hand over its model{where}.")
    assert eval(f"whole{where}", {"whole": wrap(model)}) is model
