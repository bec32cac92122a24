// A published site: answers are files beside the page, of looks, planes and zooms that were chosen when it was made.

import {isSolid, state} from "./state.js";

let facts = null; // of the site; null: the page comes from `octavo view`

export const site = () => facts;

export async function openSite(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address} is missing beside this page`);
  facts = await answer.json();
}

const wordsOf = (look) => Object.entries(look).filter(([name]) => !["folder", "zooms", "bricks"].includes(name));
const same = (words, look) => wordsOf(look).every(([name, value]) => words.get(name) === String(value))
  && [...words.keys()].every((name) => name in look || ["zoom", "column", "row", "i", "j", "k"].includes(name));

// The file that holds the answer to a question. Throws where none was published.
export function fileOf(address) {
  const [path, query] = address.split("?"), words = new URLSearchParams(query ?? ""), [step, number, what] = path.split("/");
  if (step === "steps") return "steps.json";
  if (!what) return `step/${number}/facts.json`;
  if (what === "stats") return `step/${number}/stats/${facts.fields.indexOf(words.get("field"))}.json`;
  const look = facts.looks.find((one) => (what === "brick") === (one.bricks !== undefined) && same(words, one));
  if (!look) throw new Error(`this site does not hold ${words.get("field")} so: it has ${[...new Set(facts.looks.map((one) => one.field))].join(", ")}`);
  const places = (what === "brick" ? ["zoom", "i", "j", "k"] : ["zoom", "column", "row"]).map((name) => words.get(name));
  return `step/${number}/${look.folder}/${places.join("/")}.${what}`;
}

// The deepest zoom of a view; undefined: there is no such limit.
export function deepest(view) {
  if (!facts) return undefined;
  const look = facts.looks.find((one) => one.field === view.field && ofView(one, view) && (isSolid(view) || one.axis === state.axis));
  return look && (look.bricks ?? look.zooms) - 1;
}

const ofView = (look, view) => isSolid(view) ? look.bricks !== undefined : look.kind === view.kind;

// The values that a control may take, given those before it: what was published.
export function published(view) {
  const of = facts.looks.filter((look) => look.field === view.field);
  const kinds = new Set(of.flatMap((look) => look.bricks === undefined ? [look.kind] : ["volume", "peak", "surface"]));
  const axes = new Set(of.filter((look) => ofView(look, view)).map((look) => look.axis));
  return {fields: [...new Set(facts.looks.map((look) => look.field))], kinds, axes};
}

const planesOf = (view) => facts.looks.filter((look) => look.field === view.field && look.kind === view.kind && look.axis === state.axis).map((look) => look.at).sort((a, b) => a - b);

// The published plane before or after the one that is shown.
export function nextPlane(view, by) {
  const planes = planesOf(view), ahead = planes.filter((at) => by > 0 ? at > state.at : at < state.at);
  return (by > 0 ? ahead[0] : ahead.at(-1)) ?? state.at;
}

// Changes a view, and what views share, to the nearest that was published.
export function nearest(view) {
  const {fields} = published(view);
  if (!fields.includes(view.field)) view.field = fields[0];
  const {kinds} = published(view);
  if (!kinds.has(view.kind)) view.kind = [...kinds][0];
  const of = facts.looks.filter((look) => look.field === view.field && ofView(look, view));
  if (isSolid(view)) { view.unit = of[0].unit ?? ""; return; }
  if (!of.some((look) => look.axis === state.axis)) state.axis = of[0].axis;
  const flat = of.filter((look) => look.axis === state.axis), planes = planesOf(view);
  if (view.kind === "slice" && planes.length) state.at = planes.reduce((a, b) => Math.abs(b - state.at) < Math.abs(a - state.at) ? b : a);
  view.weight = flat[0].weight ?? "";
  view.unit = flat[0].unit ?? "";
  state.where = flat[0].where ?? "";
  state.level = "";
}
