// Where a part of the drawing leads: the page that shows or explains it, with the sentence that is typed above.

// Choices of the page that a click overrides: another tab would not show the clicked part.
const heads = (site) => ({ page: "Heads", texts: { tab: "", row: "", zoom: "", quadrant: "", ...site } });
const attribute = () => ({ page: "Causes", texts: { tab: "attribute", experiment: "" } });

const LEADS = {
  attention: ({ kind, layer, head }, run) => heads({ kind, layer, head: head ?? run?.kinds[kind]?.head ?? 0 }),
  bar: ({ layer: { sites } }) => (sites.length ? heads({ kind: sites[0][0], layer: sites[0][1] }) : null),
  network: attribute,
  norm: attribute,
  embedding: attribute,
  positions: () => ({ page: "Implementations", texts: { tab: "relative" } }),
  tokens: ({ id }) =>
    id === "decoder-tokens" ? { page: "Decoding", texts: {} } : { page: "Heads", texts: { tab: "links" } },
  scores: () => ({ page: "Decoding", texts: {} }),
  softmax: () => ({ page: "Decoding", texts: {} }),
  end: () => ({ page: "Decoding", texts: {} }),
};

export const ofHead = ({ kind, layer }, head) => heads({ kind, layer, head });
export const ofMask = ({ kind, layer, head }) => ({
  page: "Masks",
  texts: { tab: "", masks: "causal", kind, layer, head: head ?? 0 },
});

// `{ page, texts }`, or null for a part that no page shows.
export const ofPart = (part, run) => LEADS[part.type]?.(part, run) ?? null;

// With this visitor's own address of that page; null where the model has no such page.
export function asked(place, places) {
  const own = place && places?.[place.page];
  if (!own) return null;
  const texts = Object.entries({ ...own, ...place.texts }).filter(([, text]) => text !== "" && text !== null);
  return { page: place.page, texts: Object.fromEntries(texts.map(([name, text]) => [name, String(text)])) };
}

export const queryOf = ({ texts }) => String(new URLSearchParams(texts));
export const addressOf = (place) => `${place.page.toLowerCase()}?${queryOf(place)}`;
