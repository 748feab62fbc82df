// A row of weights drawn as bars: dragged until it is answered, then seen to move to what the model has. A closed one
// shows what was drawn, and stays.

const STEP = 0.05;
const REST = 200; // milliseconds until Python hears
const MOVES = { ArrowRight: STEP, ArrowUp: STEP, ArrowLeft: -STEP, ArrowDown: -STEP, PageUp: 0.2, PageDown: -0.2 };

export default function ({ parentElement, data, setStateValue }) {
  const box = parentElement.querySelector(".row-guess");
  const key = JSON.stringify([data.keys, data.closed, data.truth !== null, data.truth === null && data.guess]);
  if (box.drawn !== key) draw(box, data, key);
  box.send = () => {
    clearTimeout(box.waiting);
    // Thousandths: what a component tells is whole numbers.
    const weights = () => box.heights.map((height) => Math.round(height * 1000));
    box.waiting = setTimeout(() => setStateValue("guess", { weights: weights(), time: Date.now() }), REST);
  };
}

function draw(box, data, key) {
  box.drawn = key;
  box.heights = data.keys.map((_, i) => data.guess?.[i] ?? 0);
  box.isDrawn = data.truth === null && !data.closed;
  box.words = data.words;
  box.classList.toggle("told", !box.isDrawn);
  const bars = data.keys.map((name, i) => barOf(box, data, name, i));
  const group = box.querySelector(".keys");
  group.setAttribute("aria-label", data.words.group);
  group.replaceChildren(...bars.map(({ node }) => node));
  box.bars = bars;
  paint(box, data.truth === null ? null : shares(box.heights));
  if (data.truth !== null) setTimeout(() => paint(box, data.truth), 60);
}

const shares = (heights) => {
  const total = heights.reduce((sum, height) => sum + height, 0);
  return heights.map((height) => (total > 0 ? height / total : 0));
};

function barOf(box, data, name, i) {
  const make = (tag, className) => Object.assign(document.createElement(tag), { className });
  const node = make("div", "key");
  const label = make("span", "name");
  const track = make("div", "track");
  const fill = make("div", "fill");
  const value = make("span", "value");
  label.textContent = name;
  label.dir = "auto";
  track.append(fill);
  node.append(label, track, value);
  track.setAttribute("role", box.isDrawn ? "slider" : "img");
  track.setAttribute("aria-label", `${i} ${name}`);
  if (box.isDrawn) listen(box, track, i);
  else if (data.truth && data.guess) {
    const mark = make("span", "guess");
    mark.style.left = `${shares(data.guess)[i] * 100}%`;
    track.append(mark);
  }
  return { node, track, fill, value };
}

function listen(box, track, i) {
  track.tabIndex = 0;
  track.setAttribute("aria-valuemin", "0");
  track.setAttribute("aria-valuemax", "1");
  const set = (height) => {
    box.heights[i] = Math.max(0, Math.min(1, height));
    paint(box, null);
    box.send();
  };
  const drag = ({ clientX }) => {
    const { left, width } = track.getBoundingClientRect();
    set((clientX - left) / width);
  };
  track.onpointerdown = (event) => {
    track.setPointerCapture(event.pointerId);
    drag(event);
  };
  track.onpointermove = (event) => event.buttons && drag(event);
  track.onkeydown = (event) => {
    if (!(event.key in MOVES) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    set(box.heights[i] + MOVES[event.key]);
  };
}

// Bars as they are drawn, their numbers as shares of the row: a row sums to 1 however its bars are drawn.
function paint(box, told) {
  const parts = told ?? shares(box.heights);
  box.bars.forEach(({ track, fill, value }, i) => {
    fill.style.width = `${(told ? told[i] : box.heights[i]) * 100}%`;
    value.textContent = parts[i].toFixed(2);
    if (box.isDrawn) track.setAttribute("aria-valuenow", parts[i].toFixed(2));
  });
  box.querySelector(".sum").textContent = told ? box.words.told : box.words.scaled;
}
