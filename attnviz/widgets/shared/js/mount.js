// Streamlit calls a widget's default export for each place in the page, and again on the same place whenever data or
// theme change; a notebook and a file of its own do the same. `start(root)` builds the widget, `receive(app, data)` draws.

export const mount =
  (start, receive) =>
  ({ parentElement, data, setStateValue }) => {
    const root = parentElement.querySelector("[lang=und]");
    if (!root || !data) return;
    root.getRootNode().host?.setAttribute("data-picture", ""); // what can be presented: attnviz/widgets/screen
    const app = (root.attnviz ??= start(root));
    app.send = setStateValue;
    receive(app, data);
  };
