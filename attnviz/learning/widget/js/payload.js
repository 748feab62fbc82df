// Decoding of what Python sends (attnviz/learning/widget/payload.py says how it is laid out).

import { inflated, scalesIn, unpack } from "../../../kit/js/unpack.js";
import { feedOf } from "./feeds.js";
import { readAbout, readMoments, withPlaces } from "./runs.js";
import { isTranslator, readTranslator, readTranslatorMoments } from "./translator.js";

export async function decodePayload(bytes) {
  const { header, array } = unpack(bytes);
  const runs = await Promise.all(header.runs.map((raw) => readRun(raw, array)));
  return { header, scales: scalesIn({ header, array }), runs };
}

async function readRun(raw, array) {
  if (raw.state === "live") return liveRun(raw);
  const [aboutIn, momentsIn] = isTranslator(raw) ? [readTranslator, readTranslatorMoments] : [readAbout, readMoments];
  const about = raw.about ? aboutIn(raw.about) : null;
  const moments = about ? momentsIn(raw.moments, await inflated(array(Uint8Array, ...raw.packed)), about) : [];
  return { ...raw, about, moments, own: readOwn(raw.own, array) };
}

// Its moments are what the feed has brought so far.
function liveRun(raw) {
  const feed = feedOf(raw.key);
  return {
    ...raw,
    feed,
    get about() {
      return taken(feed).about ?? null;
    },
    get moments() {
      return shownOf(taken(feed));
    },
  };
}

function taken(feed) {
  for (const { piece, array } of feed.pieces.splice(0)) {
    feed.about = piece.about ? readAbout(piece.about) : feed.about;
    const moments = readMoments(piece.moments, array, feed.about);
    feed.moments = [...(feed.moments ?? []).slice(0, piece.since), ...moments];
  }
  return feed;
}

// Of the moments that have come those that are to be seen: the same list until there are more.
function shownOf(feed) {
  const count = Math.min(Math.floor(feed.shown + 1e-6), feed.moments?.length ?? 0); // a pace is rarely a whole number
  if (feed.seen?.length !== count || feed.seenOf !== feed.moments) {
    feed.seen = (feed.moments ?? []).slice(0, count);
    feed.seenOf = feed.moments;
  }
  return feed.seen;
}

function readOwn(own, array) {
  if (!own) return null;
  const placed = withPlaces(own.kinds);
  return { ...own, ...placed, maps: array(Uint8Array, own.maps, placed.cells) };
}
