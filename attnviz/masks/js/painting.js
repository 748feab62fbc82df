// A painted mask, one byte a cell, 1 = may attend, and its text, which is that of attnviz/masks/masks.py.

export function paintOf(text, q, k) {
  const cells = new Uint8Array(q * k).fill(1);
  if (!text) return cells;
  const data = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (sign) => sign.charCodeAt(0));
  const [rows, cols, ...runs] = varints(data);
  let at = 0;
  let visible = 1;
  for (const run of runs) {
    for (let i = 0; i < run; i++, at++) {
      const row = Math.floor(at / cols);
      const col = at % cols;
      if (!visible && row < Math.min(rows, q) && col < k) cells[row * k + col] = 0;
    }
    visible ^= 1;
  }
  return cells;
}

export function textOf(cells, q, k) {
  if (!cells.includes(0)) return "";
  const numbers = [q, k];
  let visible = 1;
  let run = 0;
  for (const cell of cells) {
    if (cell !== visible) {
      numbers.push(run);
      run = 0;
      visible = cell;
    }
    run += 1;
  }
  numbers.push(run);
  const bytes = numbers.flatMap(varint);
  return btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
}

function varint(number) {
  const bytes = [];
  for (; number > 127; number >>= 7) bytes.push((number & 127) | 128);
  return [...bytes, number];
}

function varints(bytes) {
  const numbers = [];
  let number = 0;
  let shift = 0;
  for (const byte of bytes) {
    number |= (byte & 127) << shift;
    shift += 7;
    if (byte < 128) {
      numbers.push(number);
      number = shift = 0;
    }
  }
  return numbers;
}
