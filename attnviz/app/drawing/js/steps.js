// The sentence's numbers on their way through the model, a step at a time: each step is about a part of the drawing,
// and says real numbers of the run. `{ id, parts, title, text, bars, strip, tokens }`; nothing is computed here but sums of
// what the trace holds.

import { exactText, isolated, percentText, rowName, siteName } from "../../../kit/js/text.js";

const count = (number) => number.toLocaleString("en");
const quoted = (text) => `“${isolated(text)}”`;
export const LEFT_OUT =
  "Not shown here: the other heads, the queries and keys (see the tab Neuron), and what W_o, feed-forward networks and norms " +
  "do to each number.";

// The kind whose rows can be asked about.
export const mainKind = ({ kinds }) => ["decoder_self", "encoder_self", "cross"].find((kind) => kind in kinds);

export function rowsOf(run) {
  const { rows } = run.kinds[mainKind(run)];
  const isStep = mainKind(run) === "decoder_self";
  return rows.map((text, at) => [text, isStep ? (run.tgt[at + 1] ?? null) : null]);
}

// `numbers(offset, length)` are floats of the payload.
export function stepsOf({ built, run, names, here }, numbers, row) {
  const told = { built, run, names, numbers, here };
  const hasBoth = "cross" in run.kinds && "encoder_self" in run.kinds;
  const source = hasBoth ? strongest(run.kinds.cross, row) : row;
  const steps = [];
  if ("encoder_self" in run.kinds) steps.push(...ofStack(told, "encoder", ["encoder_self"], source));
  if ("decoder_self" in run.kinds)
    steps.push(
      ...ofStack(
        told,
        "decoder",
        ["decoder_self", "cross"].filter((kind) => kind in run.kinds),
        row,
      ),
    );
  else if (!steps.length) steps.push(...attentionSteps(told, "cross", row));
  return [...steps, ...ending(told, row)].filter(Boolean).map((step, at) => ({ ...step, at }));
}

const strongest = ({ top }, row) => top[row]?.[0]?.[0] ?? 0;

function ofStack(told, stack, kinds, row) {
  const { run } = told;
  return [
    tokensStep(told, stack, row),
    row < run.kinds[kinds[0]].rows.length && embeddingStep(told, stack, kinds[0], row),
    ...kinds.flatMap((kind) => attentionSteps(told, kind, row)),
    layersStep(told, stack, kinds[0], row),
  ];
}

function tokensStep({ built, run }, stack, row) {
  const isTarget = stack === "decoder" && built.stacks.length > 1;
  const all = stack === "encoder" || !run.tgt.length ? run.src : run.tgt;
  const total = stack === "encoder" || !run.tgt.length ? run.counts[0] : run.counts[1];
  const tokens = stack === "encoder" ? all : all.slice(0, row + 1);
  const text = isTarget
    ? `Step ${row} of the decoder reads the ${tokens.length} target tokens up to ${quoted(tokens.at(-1))}; later ones are masked.`
    : stack === "decoder"
      ? `The text is ${count(total)} tokens. Row ${row} reads those up to ${quoted(tokens.at(-1))}.`
      : `The text is cut into ${count(total)} tokens, each an entry of the vocabulary.`;
  return { id: `${stack}-tokens`, parts: [`${stack}-tokens`], title: "Tokens in", text, tokens };
}

function lengthAt({ run, numbers }, stack, layer, row) {
  const stream = run.stream[stack];
  const at = stream?.layers.indexOf(layer) ?? -1;
  return at < 0 || row >= stream.rows
    ? null
    : numbers(stream.at, stream.layers.length * stream.rows)[at * stream.rows + row];
}

function embeddingStep(told, stack, kind, row) {
  const length = lengthAt(told, stack, -1, row);
  if (length === null) return null;
  const { d_model: width } = told.built;
  const token = told.run.kinds[kind].rows[row];
  const text = `What goes into the first layer for ${quoted(token)} is a vector of ${count(width)} numbers; its length is ${exactText(length)}.`;
  return { id: `${stack}-embedding`, parts: [`${stack}-embedding`, `${stack}-positions`], title: "Embedding", text };
}

function attentionSteps(told, kind, row) {
  const found = told.run.kinds[kind];
  if (row >= found.rows.length) return [tooLate(told, kind, row)];
  const isFocus = kind === (told.here.kind ?? (told.run.kinds.cross ? "cross" : mainKind(told.run)));
  return [weightsStep(told, kind, row), isFocus && found.context ? contextStep(told, kind, row) : null];
}

function tooLate({ names, run }, kind, row) {
  const text = `Row ${row} has no numbers here; only the first ${run.kinds[kind].rows.length} rows do.`;
  return { id: kind, parts: [kind], title: names[kind], text };
}

function weightsStep({ names, run }, kind, row) {
  const { layer, head, rows, keys, top, seen, total, n_keys: keyCount } = run.kinds[kind];
  const where = `${names[kind]}, ${siteName(layer, head)}`;
  if (total[row] === null) return { id: kind, parts: [kind], title: where, text: "This row is not a number (NaN)." };
  const bars = top[row].filter(([, weight]) => weight > 0).map(([at, weight]) => [keys[at], weight, at]);
  const rest = total[row] - bars.reduce((sum, [, weight]) => sum + weight, 0);
  const others = seen[row] - bars.length;
  if (others > 0 && rest > 5e-5) bars.push([`${others} other${others > 1 ? "s" : ""}`, rest, null]);
  const sees = seen[row] === keyCount ? `all ${keyCount} tokens` : `${seen[row]} of ${keyCount} tokens`;
  const said = bars.length
    ? `${quoted(rows[row])} looks at ${sees}, most at ${quoted(bars[0][0])}: ${exactText(bars[0][1])}. The row sums to ${total[row].toFixed(4)}.`
    : `${quoted(rows[row])} may not look at any key.`;
  const parts = kind === "cross" ? [kind, "memory"] : [kind];
  return { id: kind, parts, title: where, text: said, bars };
}

function contextStep({ names, run, numbers }, kind, row) {
  const { layer, head, context } = run.kinds[kind];
  const strip = Array.from(
    numbers(context.at, run.kinds[kind].rows.length * context.sent).slice(row * context.sent, (row + 1) * context.sent),
  );
  const first = strip.slice(0, 3).map(exactText).join(", ");
  const more = context.sent < context.d_k ? `; the first ${context.sent} are drawn` : "";
  const length = context.length[row];
  const text =
    length === null
      ? "The head's output is not a number (NaN)."
      : `The weighted sum of these tokens' values is the context: ${context.d_k} numbers, ${first} …${more}. Its length is ${exactText(length)}.`;
  return {
    id: `${kind}-context`,
    parts: [kind],
    title: `Context of ${names[kind].toLowerCase()}, ${siteName(layer, head)}`,
    text,
    strip,
  };
}

function layersStep(told, stack, kind, row) {
  const layers = told.run.stream[stack]?.layers;
  const token = told.run.kinds[kind].rows[row];
  if (!layers?.length || token === undefined) return null;
  const [first, last] = [layers[0], layers.at(-1)].map((layer) => lengthAt(told, stack, layer, row));
  if (first === null || last === null) return null;
  const read = stack === "encoder" && told.built.stacks.length > 1 ? " The decoder reads this as its memory." : "";
  const text = `W_o joins all heads; feed-forward networks and sums follow, layer after layer. The vector of ${quoted(token)} goes from length ${exactText(first)} to ${exactText(last)} after layer ${layers.at(-1)}.${read}`;
  const parts = [`${stack}-network`, `${stack}-full`, ...(read ? ["memory"] : [])];
  return { id: `${stack}-layers`, parts, title: `Through the ${stack}’s layers`, text };
}

function ending({ built, run }, row) {
  const next = run.next[row];
  if (!next?.length) return [];
  const kind = mainKind(run);
  const came = kind === "decoder_self" ? rowsOf(run)[row][1] : null;
  const [[text, chance]] = next;
  const place =
    built.ends === "masked"
      ? `For the place of ${quoted(run.kinds[kind].rows[row])}`
      : `After ${quoted(run.kinds[kind].rows[row])}`;
  const then = came === null ? "" : ` In this run ${quoted(came)} comes next.`;
  return [
    {
      id: "end",
      parts: ["scores", "softmax", "end"],
      title: "Out",
      text: `${place}, of ${built.vocabulary ? count(built.vocabulary) : "all"} vocabulary entries, ${quoted(text)} is the most likely: ${percentText(chance)}.${then}`,
      bars: next.map(([token, p]) => [token, p, token === came ? "came" : null]),
    },
  ];
}

export const rowText = (rows, row) => `${row}: ${rowName(rows[row])}`;
