// Colours: the host's own (kit/css/buttons.css), and the scales that Python sends.

import { whileAttached } from "./attached.js";

export function readTheme(app) {
  const style = getComputedStyle(app.root);
  const [paper, ink, accent] = ["--paper", "--ink", "--accent"].map((name) =>
    rgbOf(style.getPropertyValue(name).trim()),
  );
  const name = luminance(paper) < 0.5 ? "dark" : "light";
  const key = [name, paper, ink, accent, style.fontFamily].join("|");
  if (app.theme?.key === key) return;
  app.theme = {
    key,
    name,
    font: style.fontFamily,
    paper: css(paper),
    ink: css(ink),
    accent: css(accent),
    muted: css(mix(ink, paper, 0.64)),
    faint: css(mix(ink, paper, 0.42)),
    line: css(mix(ink, paper, 0.13)),
    hatch: css(mix(ink, paper, 0.34)),
    paperRGB: paper,
    inkRGB: ink,
    accentRGB: accent,
  };
  app.root.dataset.theme = name;
}

// hosts/themes.js says when its colours are others.
export function watchTheme(app, repaint) {
  const look = () => {
    const before = app.theme?.key;
    if (app.payload) readTheme(app);
    if (app.theme?.key !== before) repaint();
  };
  whileAttached(app, (signal) => document.addEventListener("attnviz-theme", look, { signal }));
}

const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });

export function rgbOf(css) {
  probe.canvas.width = probe.canvas.height = 1;
  probe.fillStyle = css;
  probe.fillRect(0, 0, 1, 1);
  return probe.getImageData(0, 0, 1, 1).data.slice(0, 3);
}

export const css = ([r, g, b], alpha = 1) => (alpha === 1 ? `rgb(${r},${g},${b})` : `rgba(${r},${g},${b},${alpha})`);
export const mix = (a, b, part) => a.map((value, i) => Math.round(value * part + b[i] * (1 - part)));
export const luminance = ([r, g, b]) => (0.2126 * r + 0.7152 * g + 0.0722 * b) / 255;

// 256 colours as 32-bit pixels (little endian: alpha, blue, green, red).
function pixelsOf(scale) {
  const pixels = new Uint32Array(256);
  for (let i = 0; i < 256; i++)
    pixels[i] = (255 << 24) | (scale[3 * i + 2] << 16) | (scale[3 * i + 1] << 8) | scale[3 * i];
  return pixels;
}

export function scaleOf(app, name) {
  const key = `${app.payload.header.base}|${app.theme.name}`;
  if (app.scales?.key !== key) app.scales = { key };
  const rgb = app.payload.scales[app.theme.name][name];
  return (app.scales[name] ??= { rgb, pixels: pixelsOf(rgb) });
}

// Which of the scale's 256 steps a value is.
export const stepOf = (value, low, high) =>
  Math.max(0, Math.min(255, Math.round(((value - low) / (high - low || 1)) * 255)));
export const colourAt = (scale, step) => [scale.rgb[3 * step], scale.rgb[3 * step + 1], scale.rgb[3 * step + 2]];

export function imageOf(data, [rows, cols], scale, [low, high]) {
  const image = new ImageData(cols, rows);
  const pixels = new Uint32Array(image.data.buffer);
  const factor = 255 / (high - low || 1);
  for (let i = 0; i < data.length; i++) {
    const step = (data[i] - low) * factor + 0.5;
    pixels[i] = scale.pixels[step < 0 ? 0 : step > 255 ? 255 : step | 0];
  }
  return image;
}
