"""The picture Attribution: one logit as a sum of the contributions of each head and layer."""

from attnviz.kit.picture import Picture, model_and_trace

PICTURE = Picture(
    name="attribution", title="Attribute", position=130, page="Causes", tab="attribute", terms=("Heads", "Causes"),
    state="attnviz.causes.attribution.attribution:AttributeState",
    subject_of="attnviz.causes.attribution.attribution:attribution_of", python_only=("step", "drops"),
    example=model_and_trace, tab_drawn_by="attnviz.causes.page.attribute:draw",
    example_choice=(".avz", "o"),
)  # fmt: skip
