// What a widget does beyond its own elements: it hears the page, watches sizes, lets time pass. All of that ends when its
// host takes the widget away, and begins again when the host puts it back.

// `begin(signal)` is called whenever the widget is attached; the signal is aborted when it is taken away.
export function whileAttached(app, begin) {
  app.begins.push(begin);
  if (app.attached) begin(app.attached.signal);
}

export function attach(app) {
  if (app.attached) return;
  app.attached = new AbortController();
  for (const begin of app.begins) begin(app.attached.signal);
}

export function detach(app) {
  app.attached?.abort();
  app.attached = null;
}

// Hears events of the whole page before anything in it does.
export function hearPage(app, heard) {
  whileAttached(app, (signal) => {
    for (const [name, act] of Object.entries(heard)) document.addEventListener(name, act, { capture: true, signal });
  });
}
