// A file of arrays for NumPy: a zip archive, not compressed, of one .npy file for each array.

import { saveFile } from "../elements.js";

const TYPES = { Float32Array: "<f4", Uint8Array: "|u1" };

// `arrays` are `{ values, shape }` by name; values are a Float32Array or a Uint8Array.
export function saveNPZ(name, arrays) {
  const files = Object.entries(arrays).map(([key, array]) => [`${key}.npy`, npyOf(array)]);
  saveFile(`${name}.npz`, zipOf(files), "application/octet-stream");
}

function npyOf({ values, shape }) {
  const sizes = shape.length === 1 ? `${shape[0]},` : shape.join(", ");
  const about = `{'descr': '${TYPES[values.constructor.name]}', 'fortran_order': False, 'shape': (${sizes}), }`;
  const text = about.padEnd(Math.ceil((about.length + 11) / 64) * 64 - 11) + "\n";
  const head = [0x93, ...[..."NUMPY"].map((sign) => sign.charCodeAt(0)), 1, 0, text.length & 255, text.length >> 8];
  const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
  return joined([new Uint8Array(head), new TextEncoder().encode(text), bytes]);
}

function zipOf(files) {
  const [local, central] = [[], []];
  let offset = 0;
  for (const [name, content] of files) {
    const title = new TextEncoder().encode(name);
    const about = [
      20,
      0,
      0,
      0,
      0x21,
      [checksum(content), 4],
      [content.length, 4],
      [content.length, 4],
      title.length,
      0,
    ];
    const header = fields([[0x04034b50, 4], ...about]);
    local.push(header, title, content);
    central.push(fields([[0x02014b50, 4], 20, ...about, 0, 0, 0, [0, 4], [offset, 4]]), title);
    offset += header.length + title.length + content.length;
  }
  const size = central.reduce((sum, part) => sum + part.length, 0);
  const end = fields([[0x06054b50, 4], 0, 0, files.length, files.length, [size, 4], [offset, 4], 0]);
  return [...local, ...central, end];
}

// Numbers of two bytes, or `[number, bytes]`, the lowest byte first.
const fields = (numbers) =>
  new Uint8Array(
    numbers.flatMap((one) => {
      const [number, length] = Array.isArray(one) ? one : [one, 2];
      return Array.from({ length }, (_, byte) => (number >>> (8 * byte)) & 255);
    }),
  );

function joined(parts) {
  const made = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    made.set(part, at);
    at += part.length;
  }
  return made;
}

function checksum(bytes) {
  let sum = -1;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (0xedb88320 & -(sum & 1));
  }
  return (sum ^ -1) >>> 0;
}
