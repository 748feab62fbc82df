"""The picture Alignment: the source word from which each target word comes, by several methods."""

from attnviz.kit.picture import Picture, always

PICTURE = Picture(
    name="alignment", title="Alignment", position=60, state="attnviz.heads.alignment.alignment:AlignmentState",
    subject_of="attnviz.heads.alignment.alignment:alignment_of", needs_whole_trace=always,
    inputs=("text",), controls="attnviz.heads.page.alignment_bar:draw", python_only=("way",),
    example_choice=("[data-toggle=null]", "Enter"), example_point="canvas",
)  # fmt: skip
