"""The picture Flow: how information from the tokens mixes from layer to layer."""

from attnviz.kit.picture import Picture, always

PICTURE = Picture(
    name="flow", title="Flow", position=70, state="attnviz.heads.flow.flow:FlowState",
    subject_of="attnviz.heads.flow.flow:flow_of", rules="attnviz.heads.flow.flow:FlowRules", needs_whole_trace=always,
    inputs=("text",), python_only=("by", "flow"),
    example_choice=(".flow-rows [aria-selected=true]", "ArrowUp"), example_point="canvas",
)  # fmt: skip
