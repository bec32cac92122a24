// Tiles of values: asked for, kept, and given up when nobody looks at them any more.

import {fileOf, site} from "./site.js";

const KEPT = 96 << 20, AT_ONCE = 6; // bytes of values beyond those that are looked at, requests
const known = new Map();   // key -> tile, the last used ones last
const running = new Map(); // key -> AbortController
let wanted = [], held = 0;
const states = new Map();  // step -> the word for its files, as of the last answer
let changed = () => {}, stale = () => {};
export const read = {bytes: 0, tiles: 0}; // of all tiles so far: read from files, and tiles

export function onChange(call) { changed = call; }
export function onStale(call) { stale = call; }

// A step's files are these now. If they were others, what is known of it is forgotten.
export function filesAre(step, word) {
  const before = states.get(step);
  if (!word || word === before) return;
  states.set(step, word);
  if (before === undefined) return;
  for (const key of [...known.keys()]) if (key.startsWith(`step/${step}/`)) drop(key);
  stale(step);
}

// Whether an answer about a step is of its files as the last answer has them: while a body comes, another may tell of other files.
export function isOfNow(path, answer) {
  const word = answer.headers.get("octavo-state");
  return !word || word === states.get(stepOf(path));
}

const stepOf = (path) => Number(path.split("/")[1]);

export async function ask(path, words = {}, signal = undefined) {
  const question = path + (Object.keys(words).length ? "?" + new URLSearchParams(words) : ""), address = site() ? fileOf(question) : question;
  let answer;
  try { answer = await fetch(address, {signal}); } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error(site() ? "the web server of this site does not answer" : "the server does not answer: `octavo view` has ended, or the connection to it is cut");
  }
  if (answer.ok) {
    filesAre(stepOf(path), answer.headers.get("octavo-state"));
    return answer;
  }
  if (site()) throw new Error(`${address} is missing on this site (answer ${answer.status})`);
  let facts = {};
  try { facts = await answer.json(); } catch { /* no JSON */ }
  const places = (facts.places || []).length ? "\nin " + [...facts.places].reverse().join(", ") : "";
  const failed = new Error((facts.error || `answer ${answer.status}`) + places + (facts.hint ? `\ntry: ${facts.hint}` : ""));
  failed.status = answer.status;
  throw failed;
}

export function keyOf(step, look, zoom, column, row) {
  return `step/${step}/tile?${new URLSearchParams({...look, zoom, column, row})}`;
}

export function brickKey(step, look, zoom, i, j, k) {
  return `step/${step}/brick?${new URLSearchParams({...look, zoom, i, j, k})}`;
}

// A tile that is there, or has failed; else undefined.
export function tile(key) {
  const found = known.get(key);
  if (found) { known.delete(key); known.set(key, found); }
  return found;
}

// Says which tiles are looked at, the most important first. Requests for others end.
export function want(keys) {
  wanted = keys;
  for (const [key, control] of running) if (!keys.includes(key)) { control.abort(); running.delete(key); }
  start();
}

// Forgets what failed: the question is another one.
export function forget() {
  for (const [key, found] of [...known]) if (found.failed) drop(key);
}

// Asks again for what failed and may be there now. What it was stays until then. Returns whether there is any.
export function retry() {
  const some = wanted.map((key) => known.get(key)).filter((found) => found?.failed && found.passing);
  for (const found of some) found.again = true;
  start();
  return some.length > 0;
}

function start() {
  for (const key of wanted) {
    if (running.size >= AT_ONCE) return;
    if ((!known.has(key) || known.get(key).again) && !running.has(key)) load(key);
  }
}

async function load(key) {
  const control = new AbortController();
  running.set(key, control);
  try {
    const answer = await ask(key, {}, control.signal), found = unpacked(await inflated(await answer.arrayBuffer()));
    if (isOfNow(key, answer)) keep(key, found); // else it is asked for again below
  } catch (error) {
    if (error.name === "AbortError") return;
    if (error.status === 503) { setTimeout(start, 500); running.delete(key); return; }
    keep(key, {failed: error.message, passing: ![400, 501].includes(error.status)}); // those are of the question itself
  } finally {
    if (running.get(key) === control) running.delete(key);
  }
  start();
  changed();
}

function drop(key) {
  held -= known.get(key)?.values?.byteLength ?? 0;
  known.delete(key);
}

function keep(key, found) {
  drop(key);
  known.set(key, found);
  held += found.values?.byteLength ?? 0;
  if (found.facts) { read.bytes += found.facts.bytes_read; ++read.tiles; }
  const needed = new Set(wanted);
  for (const old of known.keys()) { if (held <= KEPT) break; if (!needed.has(old)) drop(old); }
}

// Files of a site are compressed, unless their web server has undone that.
async function inflated(buffer) {
  const [a, b] = new Uint8Array(buffer, 0, 2);
  if (a !== 0x1f || b !== 0x8b) return buffer;
  return new Response(new Blob([buffer]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

export function unpacked(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const facts = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  return {facts, values: new Float32Array(buffer, 4 + length), painted: new Map()};
}

// B - A, value by value. Tiles of other windows have no difference.
const differences = new WeakMap();
export function difference(a, b) {
  const made = differences.get(b)?.get(a);
  if (made) return made;
  let out;
  if (a.failed || b.failed) out = {failed: a.failed || b.failed};
  else if (a.values.length !== b.values.length || a.facts.extent.some((x, i) => Math.abs(x - b.facts.extent[i]) > 1e-9 * Math.abs(a.facts.extent[1] - a.facts.extent[0])))
    out = {failed: "the two outputs have different domains: no difference is shown"};
  else if (a.facts.unit !== b.facts.unit) out = {failed: `A is in [${a.facts.unit}], B in [${b.facts.unit}]: no difference is shown`};
  else {
    const scale = Math.max(a.facts.scale, b.facts.scale);
    const values = Float32Array.from(b.values, (value, i) => (value * b.facts.scale - a.values[i] * a.facts.scale) / scale);
    out = {facts: {...b.facts, scale, label: `${b.facts.label}, B − A`, ...extremesOf(values, scale)}, values, painted: new Map()};
  }
  if (!differences.has(b)) differences.set(b, new WeakMap());
  differences.get(b).set(a, out);
  return out;
}

function extremesOf(values, scale) {
  let low = Infinity, high = -Infinity, positive = Infinity;
  for (const value of values) if (Number.isFinite(value)) {
    low = Math.min(low, value); high = Math.max(high, value);
    if (value > 0) positive = Math.min(positive, value);
  }
  const known = (value) => Number.isFinite(value) ? value * scale : null;
  return {low: known(low), high: known(high), positive: known(positive)};
}
