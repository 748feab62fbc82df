// The same picture for files.

import { formOf } from "./form.js";

export const figureName = (app) => formOf(app).figureName(app);

export const figureSize = ({ layout }) => [Math.max(480, layout.width + 12), layout.height + 48];

export const siteOf = (app) => formOf(app).siteOf(app);

export function figure(app, pen, context) {
  const form = formOf(app);
  const below = app.layout.height;
  pen.text(form.title(app), 12, below + 18, { size: 13, weight: 600 });
  pen.text(form.notes(app).join(" · "), 12, below + 37, { size: 11, colour: app.theme.muted });
  return form.draw(app, pen, context);
}

export const csvRows = (app) => formOf(app).csvRows(app);
