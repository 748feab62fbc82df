// Hears an event of the whole page as long as `node` is in it: a page that is left takes what it heard along.

export function whileThere(node, name, hear, target = document) {
  const listener = (event) => {
    if (node.isConnected) hear(event);
    else target.removeEventListener(name, listener, true);
  };
  target.addEventListener(name, listener, true);
}
