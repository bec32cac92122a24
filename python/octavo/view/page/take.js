// Results that are computed of a view or taken away: lines to copy, and files.

import {drawBar, css} from "./pane.js";
import {alongLine, phase, profile, statistics} from "./plots.js";
import {$, active, activePane, infoOf, scene} from "./scene.js";
import {site} from "./site.js";
import {camera, valueOf} from "./solid.js";
import {isSolid, lookOf, state} from "./state.js";
import {ask} from "./tiles.js";

let result = null;  // the words of the request whose answer is shown
let running = null; // AbortController of the one that is waited for

const TITLES = {
  stats: (view) => `Statistics of ${view.field}`,
  profile: (view, words, facts) => `${view.field} over ${words.other}` + (["radius", "cylinder", "height"].includes(words.other) ? ` from ${facts.centre}` : ""),
  phase: (view, words) => `${words.other} over ${view.field}`, line: (view) => `${view.field} along the line`,
};

// The words of a question about the view's region or line.
function wordsOf(what, view) {
  const words = {...lookOf(view)};
  if (view.kind === "integral") delete words.unit; // it is that of a column
  if (what !== "line" && state.region && !site()) words.region = state.region;
  if (what === "profile") words.other = state.over || "radius";
  if (what === "phase") words.other = state.other || (infoOf(view).fields.find((field) => field.name !== view.field) ?? {name: view.field}).name;
  if (what === "line") {
    const ends = state.line.split(":");
    if (ends.length !== 2) throw new Error("there is no line\ntry: draw one, or write its ends: 0,0.5,0.5:1,0.5,0.5");
    [words.start, words.end] = ends;
  }
  return words;
}

// An answer stays where another step is shown: with several steps its title says of which it is.
const ofStep = (step) => scene.steps.length > 1 ? `, ${$("step").options[step].text}` : "";

// Closes the answer, or gives up waiting for it: the server stops then.
export function close() {
  running?.abort();
  $("result").hidden = true;
}

export async function compute(what) {
  running?.abort();
  const control = running = new AbortController();
  const view = active(), {step} = view, words = wordsOf(what, view), head = $("result").querySelector("h2");
  $("result").hidden = false;
  head.textContent = "Computing …";
  $("result-body").replaceChildren();
  result = {step, words: {...words, what}};
  try {
    const facts = await (await ask(`step/${step}/${what}`, words, control.signal)).json();
    if (control.signal.aborted) return;
    head.textContent = TITLES[what](view, words, facts) + (words.region ? ` in ${words.region}` : "") + ofStep(step);
    if (what === "stats") return $("result-body").replaceChildren(statistics(facts));
    const canvas = document.createElement("canvas");
    canvas.setAttribute("aria-label", head.textContent);
    $("result-body").replaceChildren(canvas);
    ({profile, phase, line: alongLine})[what](canvas, facts, view.field);
  } catch (error) {
    if (error.name === "AbortError") return;
    head.textContent = "There is no answer";
    $("result-body").textContent = error.message;
  }
}

// The words of a request for what the picture shows. For a difference they are B's, with those of A.
function pictureWords() {
  const i = activePane(), scale = scene.scales[i], other = state.views[0], colours = {low: scale.low, high: scale.high, scale: scale.log ? "log" : "linear", colours: scale.colours};
  const view = state.mode === "difference" ? state.views[1] : active();
  if (isSolid(view)) return {step: view.step, words: {...lookOf(view), ...colours, ...solidWords(view, scale)}};
  const shown = scene.panes[i].window(infoOf(view));
  if (!shown) throw new Error("the window shows nothing of the domain");
  const words = {...lookOf(view), ...shown, ...colours, what: "picture", grid: state.mesh ? 1 : 0};
  if (state.mode === "difference") {
    words.less_step = other.step;
    for (const name of ["field", "kind", "weight", "unit"]) if (other[name]) words[`less_${name}`] = other[name];
  }
  return {step: view.step, words};
}

function solidWords(view, scale) {
  if (state.mode === "difference") throw new Error("a difference of volumes has no command\ntry: two views side by side");
  const {towards, up} = camera(), words = view.kind === "surface" ? {what: "surface", value: valueOf(scale)} : {what: "volume", towards: towards.join(), up: up.join()};
  return state.region ? {...words, region: state.region} : words;
}

export const copyPicture = (form) => copy(pictureWords(), form);
export const copyResult = (form) => copy(result, form);

async function copy({step, words}, form) {
  const text = (await (await ask(`step/${step}/lines`, words)).json())[form];
  $("copied").hidden = false;
  $("copied").textContent = text;
  try { await navigator.clipboard.writeText(text); } catch { /* the text stands there to be copied by hand */ }
}

// ------------------------------------------------------------------ files

function handOver(blob, ending) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = `${infoOf(state.views[0]).name}_${state.views[0].field}.${ending}`.replace(/[^\w.+-]+/g, "_");
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// A file that the server makes: "pdf" or "tif".
export async function saveFile(kind) {
  const {step, words} = pictureWords(), {canvas} = scene.panes[activePane()];
  if (words.what !== "picture") throw new Error(`a volume has no ${kind === "tif" ? "GeoTIFF" : "PDF"}\ntry: PNG`);
  const pixels = Math.min(2048, Math.max(canvas.width, canvas.height));
  handOver(await (await ask(`step/${step}/file`, {...words, as: kind, pixels})).blob(), kind);
}

export async function savePicture() {
  const ratio = window.devicePixelRatio || 1, shown = scene.panes.slice(0, state.mode === "two" ? 2 : 1), wide = 110 * ratio, head = 44 * ratio;
  const canvas = document.createElement("canvas");
  canvas.width = shown.reduce((sum, pane) => sum + pane.canvas.width + wide, 0);
  canvas.height = Math.max(...shown.map((pane) => pane.canvas.height)) + head;
  const context = canvas.getContext("2d");
  context.fillStyle = css("--back");
  context.fillRect(0, 0, canvas.width, canvas.height);
  let x = 0;
  shown.forEach((pane, i) => {
    context.drawImage(pane.canvas, x, head);
    context.fillStyle = css("--front");
    context.font = `${13 * ratio}px system-ui, "DejaVu Sans", sans-serif`;
    context.textBaseline = "top";
    context.textAlign = "left";
    pane.caption.textContent.split("\n").forEach((line, k) => context.fillText(line, x + 8 * ratio, (6 + 14 * k) * ratio));
    const one = pane.tiles().there[0];
    context.save();
    context.translate(x + pane.canvas.width, head);
    drawBar(context, wide, canvas.height - head, ratio, scene.scales[i], one ? one.facts.label : "", one ? one.facts.unit : "", css("--front"));
    context.restore();
    x += pane.canvas.width + wide;
  });
  handOver(await new Promise((done) => canvas.toBlob(done)), "png");
}
