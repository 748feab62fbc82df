// Streamlit calls the default export for each place in the page, and again on the same place whenever data or theme
// change. A component brings `start(root)`, which builds it, and `receive(app, data)`.

export default function ({ parentElement, data, setStateValue }) {
  const root = parentElement.querySelector("[lang=und]");
  if (!root || !data) return;
  const app = (root.attnviz ??= start(root));
  app.send = setStateValue;
  receive(app, data);
}
