// Heads that are pinned, and what is done with them.

const COMPARE = [
  ["none", "In focus"],
  ["side", "Side by side"],
  ["difference", "Difference"],
];

function paintPins(app) {
  const { parts, view, payload } = app;
  parts.pinBar.hidden = !view.pins.length;
  const key = JSON.stringify([payload.header.base, view.pins]);
  if (parts.pinList.dataset.drawn !== key) {
    parts.pinList.dataset.drawn = key;
    parts.pinList.replaceChildren(...view.pins.map((pin) => pinNode(app, pin)));
  }
  for (const choice of parts.compare.children)
    choice.setAttribute("aria-pressed", String(choice.dataset.compare === view.compare));
}

function pinNode(app, pin) {
  const [kind, layer, head] = pin;
  const name = pinName(app, pin);
  const go = button(name, {
    class: "pin-name",
    title: `Bring ${name} into focus`,
    onclick: () => change(app, { kind, layer, head, compare: "none" }),
  });
  const off = button("×", { class: "pin-off", "aria-label": `Unpin ${name}`, onclick: () => togglePin(app, pin) });
  return element("span", { class: "pin" }, go, off);
}

const compareButtons = (app) =>
  COMPARE.map(([id, text]) => button(text, { "data-compare": id, onclick: () => change(app, { compare: id }) }));
