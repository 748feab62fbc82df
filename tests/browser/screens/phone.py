"""A phone, and what a finger would miss on it."""

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
# Buttons and lists, as a finger hits them; tokens and terms stand in running text, thumbnails are a map's cells.
SMALL = """() => {
  const inText = "[data-testid^=stWidgetLabel], [data-testid=stMarkdown], [data-testid=stCaptionContainer]";
  const inField = "[data-testid=stSelectbox], [data-testid=stMultiSelect], [data-testid=stNumberInput]";
  const roots = [document, ...[...document.querySelectorAll("*")].map((node) => node.shadowRoot).filter(Boolean)];
  const controls = "button, select, summary, input[type=range], a[data-testid=stPageLink-NavLink], nav a";
  return roots.flatMap((root) => [...root.querySelectorAll(controls)])
    .filter((node) => node.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
    .filter((node) => !node.closest(inText) && !node.closest(inField))
    .map((node) => [node, node.closest(".pick") ?? node].map((one) => one.getBoundingClientRect()).concat(node))
    .filter(([own, whole]) => own.width > 1 && whole.height < 39.5)
    .map(([, whole, node]) => `${node.tagName} ${node.ariaLabel ?? node.textContent} ${whole.height}`);
}"""
