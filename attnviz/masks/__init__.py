"""The feature Masks: paint a mask by hand, choose any fill value, and run the real model with the mask.

It may import analysis, kit and models, but no other feature. Only `page/` imports Streamlit.
"""

from attnviz.kit.picture import Picture, model_and_trace

PICTURE = Picture(
    name="mask_lab", title="Masks", position=100, page="Masks", terms=("Masks",),
    state="attnviz.masks.masks:MasksState", subject_of="attnviz.masks.mask_lab:mask_lab_of", example=model_and_trace,
    example_choice=("canvas", "Space"), example_point="canvas",
)  # fmt: skip
