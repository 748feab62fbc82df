// What is in view of a file's pictures, as the fragment of its address: #layer=2&head=5, of several pictures #2.head=5.

// Writes a fragment into the address. `isStep` adds an entry to the browser's history; a page that stands in a frame adds
// none, since the history is also that of the page around. The whole address is named, because the page may have a <base>.
// A page without an address of its own (`blob:`, `data:`, a frame's `srcdoc`) may refuse this; the error is then ignored.
export function writeFragment(fragment, isStep = false) {
  const write = isStep && parent === window ? history.pushState : history.replaceState;
  try {
    write.call(history, null, "", location.href.split("#")[0] + fragment);
  } catch {
    // the picture is the same
  }
}

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

// What is as it was at first is left out.
export function fragmentOf(pictures, isAlone) {
  const parts = new URLSearchParams();
  pictures.forEach(({ first, view }, number) => {
    const prefix = isAlone ? "" : `${number + 1}.`;
    for (const name of Object.keys(first))
      if (name !== "seq" && name in view && !same(view[name], first[name])) parts.set(prefix + name, text(view[name]));
  });
  return parts.size ? `#${parts}` : "";
}

const text = (value) => (typeof value === "string" ? value : JSON.stringify(value));

// A text that is no such value is passed over: anyone can write an address.
export function viewIn(fragment, number, isAlone, first) {
  const parts = new URLSearchParams(fragment.slice(1));
  const view = { ...first };
  for (const name of Object.keys(first)) {
    const told = parts.get(isAlone ? name : `${number + 1}.${name}`);
    const value = told === null ? undefined : read(told, first[name]);
    if (value !== undefined && name !== "seq") view[name] = value;
  }
  return view;
}

function read(told, before) {
  try {
    const value = typeof before === "string" && !told.startsWith('"') ? told : JSON.parse(told);
    return Array.isArray(value) === Array.isArray(before) || before === null ? value : undefined;
  } catch {
    return typeof before === "number" ? told : undefined; // a layer or a head may also be "mean"
  }
}
