"""The logit lens is the model's own norm and vocabulary on each layer's output; at the last layer it is the model."""

import torch

import attnviz
from attnviz.causes.numbers.lens import encoder_lens, lens_logits, logit_lens


def test_the_last_layer_is_the_models_own_logits_to_the_bit(model, clean, make_trace) -> None:
    for trace in (clean, make_trace("I love fun.", attnviz.ablate("cross", layer=1, heads=[0]))):
        assert torch.equal(lens_logits(model, trace, "decoder")[-1], trace.logits[0])


@torch.inference_mode()
def test_each_layer_goes_through_norm_and_vocabulary(model, clean) -> None:
    found = lens_logits(model, clean, "decoder")
    for layer in range(-1, 3):
        expected = model.model.logits(model.model.decoder.norm(clean.layers["decoder", layer]))[0]
        torch.testing.assert_close(found[layer + 1], expected, atol=1e-4, rtol=1e-4)
    lens = logit_lens(model, clean, count=3)
    assert torch.equal(lens.ids[..., 0], found.argmax(dim=-1))
    ids = torch.tensor([token.id for token in clean.sentences[0].tgt_out])
    torch.testing.assert_close(lens.probability, found.softmax(dim=-1)[:, range(len(ids)), ids])
    assert bool(((lens.rank == 0) == (found.argmax(dim=-1) == ids)).all())


@torch.inference_mode()
def test_an_encoders_layers_go_through_its_own_norm(model, clean) -> None:
    weight = model.model.embedding.weight
    lens = encoder_lens(model, clean, weight)
    for layer in range(-1, 3):
        states = model.model.encoder.norm(clean.layers["encoder", layer])[0]
        expected = (states @ weight.T).softmax(dim=-1)
        torch.testing.assert_close(lens.probabilities[layer + 1, :, 0], expected.amax(dim=-1), atol=1e-4, rtol=1e-4)
    assert lens.rank.shape == (4, len(clean.tokens("src")))


def test_a_row_that_puts_out_nothing_has_no_probability(model) -> None:
    cut = model.trace("I love fun.", to="fr", max_tokens=3)
    assert cut.sentences[0].cut
    lens = logit_lens(model, cut)
    assert lens.probability[:, -1].isnan().all()
    assert (lens.rank[:, -1] == -1).all()
