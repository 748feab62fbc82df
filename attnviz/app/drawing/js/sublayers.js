// The boxes of one stack from its input upward, as items of a column: { id, type, title, size, … }. What they are, not yet
// where. A `branch` is where the residual stream leaves a sublayer, an `add` where it comes back.

import {
  addedPositions,
  attentionSize,
  attentionTitle,
  embeddingSize,
  endTitle,
  networkSize,
  scoresSize,
} from "./labels.js";
import { barText, foldText, segmentsOf } from "./segments.js";

export function itemsOf(built, plan, { full, opened, here }) {
  const isLast = plan === built.stacks.at(-1);
  const layers = segmentsOf(plan, full, opened).flatMap((segment) => segmentItems(built, plan, segment, here));
  return [...inputs(built, plan), ...layers, ...outputs(built, plan, isLast)].filter(Boolean);
}

function inputs(built, { stack }) {
  const isTarget = stack === "decoder" && built.stacks.length > 1;
  const title = isTarget ? "Target tokens, shifted right" : built.stacks.length > 1 ? "Source tokens" : "Tokens";
  const known = built.vocabulary !== null;
  const added = addedPositions(built);
  return [
    { id: `${stack}-tokens`, type: "tokens", title },
    known && { id: `${stack}-embedding`, type: "embedding", title: "Embedding", size: embeddingSize(built) },
    added && { id: `${stack}-positions`, type: "positions", title: "+ positions", size: added },
  ];
}

function outputs(built, { stack, ends_normed: normed }, isLast) {
  const items = [normed && { id: `${stack}-last-norm`, type: "norm", title: "Norm" }];
  if (!isLast) return items;
  if (!built.ends) return [...items, { id: "end", type: "hidden", title: "Hidden states" }];
  return [
    ...items,
    { id: "scores", type: "scores", title: "Linear: one score for each token", size: scoresSize(built) },
    { id: "softmax", type: "softmax", title: "Softmax" },
    { id: "end", type: "end", title: endTitle(built) },
  ];
}

function segmentItems(built, plan, segment, here) {
  const [layer] = segment.layers;
  const { stack } = plan;
  if (segment.type === "fold")
    return [{ id: `fold-${segment.name}`, type: "fold", title: foldText(segment), name: segment.name, segment }];
  if (segment.type === "bar")
    return [{ id: `${stack}-layer-${layer.number}`, type: "bar", title: barText(layer), layer }];
  return [
    { id: `${stack}-full`, type: "opens", title: `${stack} layer ${layer.number}`, layer },
    ...sublayers(built, plan, layer, here),
    { type: "closes" },
  ];
}

function sublayers(built, plan, layer, here) {
  const attention = layer.sites.map(([kind, at]) => attentionItem(built, plan, [kind, at], here));
  const network = layer.feed_forward && {
    id: `${plan.stack}-network`,
    type: "network",
    title: "Feed-forward",
    size: networkSize(built, layer.feed_forward),
  };
  const beside = layer.beside && { id: `${plan.stack}-beside`, type: "beside", title: layer.beside };
  if (layer.is_parallel || (beside && attention.length)) {
    const side = layer.is_parallel ? [network, beside] : [beside];
    const both = { type: "row", items: [attention[0], ...side].filter(Boolean), hasOwnNorms: layer.has_own_norms };
    const rest = layer.is_parallel ? attention.slice(1) : [...attention.slice(1), network];
    return [both, ...rest.filter(Boolean)].flatMap((block, at) => withNorms(plan, block, at));
  }
  return [beside, ...attention, network].filter(Boolean).flatMap((block, at) => withNorms(plan, block, at));
}

function withNorms({ stack, norm }, block, at) {
  const known = norm !== "" || block.type !== "attention";
  const named = (name, title) => ({ id: `${stack}-${name}-${at}`, type: "norm", title });
  const before =
    (norm === "before" || norm === "both") && named("norm", block.hasOwnNorms ? "Norms, one for each" : "Norm");
  const after = (norm === "output" || norm === "both") && named("norm-out", "Norm");
  const sum = norm === "after" ? named("add-norm", "Add & norm") : { type: "add" };
  if (!known) return [block];
  return [{ type: "branch" }, before, block, after, { ...sum, joins: true }].filter(Boolean);
}

function attentionItem(built, { stack }, [kind, layer], here) {
  const plan = built.kinds[kind];
  return {
    id: kind,
    type: "attention",
    title: attentionTitle(kind, plan),
    size: attentionSize(built, plan, kind),
    kind,
    layer,
    heads: plan.heads,
    isMasked: kind === "decoder_self" && !plan.sees_ahead,
    head: here.kind === kind && here.layer === layer ? here.head : null,
    isHere: here.kind === kind && (here.layer === layer || here.layer === null),
    stack,
  };
}
