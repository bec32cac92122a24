// Ties the controls to the state, the state to requests, and answers to pictures.

import {MAPS, scaleOf, short, unitText} from "./colours.js";
import {ACROSS, Pane, css, domainOf, drawBar, lengthUnit, regionText} from "./pane.js";
import {phase, profile, statistics} from "./plots.js";
import {fromAddress, lookOf, state, toAddress} from "./state.js";
import {ask, forget, onChange, read, tile, want} from "./tiles.js";

const $ = (id) => document.getElementById(id);
const panes = [...document.querySelectorAll(".pane")].map((figure) => new Pane(figure));
const infos = new Map(); // step -> its facts
let steps = [];
let scales = [null, null]; // as last drawn, by pane
let result = null;         // the words of the request whose answer is shown

const active = () => state.views[state.side];
const infoOf = (view) => infos.get(view.step);
const views = () => state.mode === "one" ? [[state.views[0]]] : state.mode === "two" ? [[state.views[0]], [state.views[1]]] : [state.views];

// ------------------------------------------------------------------ messages

function say(text) {
  $("message").hidden = !text;
  $("message").textContent = text ?? "";
}

async function guarded(job) {
  try { return await job(); } catch (error) {
    if (error.name === "AbortError") return undefined;
    say(error.message);
    document.body.dataset.state = "failed";
    return undefined;
  }
}

// ------------------------------------------------------------------ steps

async function load(step) {
  if (!infos.has(step)) infos.set(step, await (await ask(`step/${step}`)).json());
  return infos.get(step);
}

const usualField = (info) => {
  const names = info.fields.map((field) => field.name);
  return names.find((name) => /^(density|dens|rho)$/i.test(name)) ?? names.find((name) => /depth|hauteur/i.test(name)) ?? names[0] ?? "level";
};

// Fills in what the address does not say, and mends what does not fit the data.
async function settle() {
  for (const [i, view] of state.views.entries()) {
    if (i && state.mode === "one") continue;
    view.step = Math.min(Math.max(0, Math.round(view.step)), steps.length - 1);
    const info = await load(view.step);
    if (!view.field) view.field = usualField(info);
    if (info.dim < 3) state.axis = "z";
    if (info.dim < 2) throw new Error("1-D data has no picture\ntry: octavo line, octavo profile");
  }
}

function fit() {
  const info = infoOf(state.views[0]), {lo, hi} = domainOf(info, state.axis), box = panes[0].canvas.getBoundingClientRect();
  state.x = (lo[0] + hi[0]) / 2;
  state.y = (lo[1] + hi[1]) / 2;
  state.w = Math.max(hi[0] - lo[0], (hi[1] - lo[1]) * box.width / Math.max(1, box.height)) * 1.04;
}

// ------------------------------------------------------------------ pictures

let asked = false;
export function redraw() {
  if (asked) return;
  asked = true;
  document.body.dataset.state = "loading";
  document.body.dataset.address = "waits";
  requestAnimationFrame(() => { asked = false; draw(); });
}

function draw() {
  const shown = views();
  if (shown.flat().some((view) => !infoOf(view)) || !steps.length) return;
  panes[1].figure.hidden = shown.length < 2;
  const found = shown.map((of, i) => ({keys: panes[i].keys(infoOf(of[0]), of)}));
  want([...new Set(found.flatMap(({keys}) => keys))]);
  const tiles = shown.map((_, i) => panes[i].tiles());
  const extremes = tiles.map(({there}, i) => panes[i].extremes(there));
  if (shown.length === 2 && sameValues()) extremes[0] = extremes[1] = joined(...extremes);
  shown.forEach((of, i) => {
    const view = state.mode === "difference" ? {...of[0], scale: "linear"} : of[0];
    const settled = tiles[i].all || !scales[i] || !view.follow; // colours do not flicker while tiles come in
    if (settled) scales[i] = scaleOf(extremes[i], view, state.colours);
    const pane = panes[i], one = tiles[i].there[0];
    pane.draw(infoOf(of[0]), scales[i], tiles[i]);
    pane.drawBar(scales[i], one ? one.facts.label : view.field, one ? one.facts.unit : "");
    pane.caption.textContent = captionOf(of, i) + damageOf(tiles[i].there);
  });
  const failed = tiles.find(({failed}) => failed)?.failed;
  say(failed ?? "");
  const all = tiles.every(({all}) => all) && shown.every((_, i) => panes[i].levels.every((key) => tile(key)));
  document.body.dataset.state = failed ? "failed" : all ? "ready" : "loading";
  const hidden = panes[0].overlay?.lines && !panes[0].overlay.points.length ? "too many mesh lines: zoom in   " : "";
  $("read").textContent = `${hidden}${read.tiles} tiles, at most ${short(read.bytes / 1e6, 3)} MB read`;
  showLimits();
  if (all) overlays();
  keepAddress();
}

// The address follows when the picture rests: browsers refuse to write it too often.
let writing = 0;
function keepAddress() {
  clearTimeout(writing);
  document.body.dataset.address = "waits";
  writing = setTimeout(() => {
    if (toAddress() !== location.hash) history.replaceState(null, "", toAddress());
    document.body.dataset.address = "kept";
  }, 100);
}

const sameValues = () => ["field", "kind", "unit", "weight", "scale", "follow"].every((name) => state.views[0][name] === state.views[1][name]);

function joined(a, b) {
  const pick = (f, x, y) => x === null ? y : y === null ? x : f(x, y);
  return {low: pick(Math.min, a.low, b.low), high: pick(Math.max, a.high, b.high), positive: pick(Math.min, a.positive, b.positive)};
}

function captionOf(of, i) {
  const name = (view) => { const info = infoOf(view); return `${info.name}   ${info.time_text}`; };
  if (state.mode === "difference") return `${of[0].field}: B − A\nA: ${name(of[0])}\nB: ${name(of[1])}`;
  return (state.mode === "two" ? "AB"[i] + ": " : "") + name(of[0]);
}

function damageOf(there) {
  const named = new Set(there.flatMap(({facts}) => facts.damaged ?? []));
  return named.size ? "\n" + [...named].join("\n") : "";
}

// Particles, and edges of triangles: asked for once the picture stands still.
let waiting = 0;
function overlays() {
  clearTimeout(waiting);
  waiting = setTimeout(() => views().forEach((of, i) => overlay(panes[i], of[0])), 150);
}

async function overlay(pane, view) {
  const info = infoOf(view);
  if (!info) return; // another step was chosen meanwhile
  const seen = pane.window(info);
  const what = state.particles && info.species.length ? "particles" : state.mesh && info.triangles ? "edges" : "";
  if (!what || !seen) { if (pane.overlay) { pane.overlay = null; redraw(); } return; }
  const words = {axis: state.axis, ...seen};
  if (what === "particles") {
    words.species = info.species[0].name;
    if (view.kind === "slice" && info.dim === 3) { words.from = Math.max(0, state.at - 0.01); words.to = Math.min(1, state.at + 0.01); }
  }
  const key = what + view.step + JSON.stringify(words);
  if (pane.overlay?.key === key) return;
  await guarded(async () => {
    const points = new Float32Array(await (await ask(`step/${view.step}/${what}`, words)).arrayBuffer());
    $("read").dataset.over = points.length;
    pane.overlay = {key, points, x0: seen.x0, y0: seen.y0, axis: state.axis, lines: what === "edges"};
    redraw();
  });
}

// ------------------------------------------------------------------ controls

function showControls() {
  const view = active(), info = infoOf(view);
  document.querySelectorAll("input[type=radio]").forEach((radio) => { radio.checked = String(state[radio.name]) === radio.value; });
  $("which").hidden = state.mode === "one";
  $("name").textContent = info.name;
  $("when").textContent = `${info.code || info.format}, ${info.time_text}`;
  document.title = `${info.name} · Octavo view`;
  fill($("fields"), [...info.fields.map((field) => field.name), ...(info.triangles ? [] : ["level"])].map((name) => [name, name]));
  fill($("step"), steps.map((step, i) => [i, steps.filter((other) => other.name === step.name).length > 1 ? `${step.name}, step ${step.step}` : step.name]));
  fill($("level"), [["", "all"], ...info.levels.map(({level}) => [level, level])]);
  fill($("colours"), [["", "automatic"], ...Object.keys(MAPS).map((name) => [name, name])]);
  fill($("scale"), [["", "automatic"], ["linear", "linear"], ["log", "logarithmic"]]);
  $("kind").options[0].textContent = info.dim < 3 || info.triangles ? "values" : "slice";
  for (const option of $("kind").options) option.hidden = option.disabled = info.dim < 3 && ["integral", "mean"].includes(option.value);
  for (const name of ["step", "field", "kind", "weight", "unit", "scale"]) set(name, view[name]);
  for (const name of ["where", "level", "colours", "region", "over", "other"]) set(name, state[name]);
  for (const name of ["mesh", "particles"]) $(name).checked = state[name];
  $("follow").checked = view.follow;
  $("weight-line").hidden = view.kind !== "mean";
  $("axes").hidden = info.dim < 3;
  $("at-line").hidden = info.dim < 3 || view.kind !== "slice";
  $("level-line").hidden = info.triangles;
  $("particles-line").hidden = !info.species.length;
  set("at", state.at);
  const along = "xyz".indexOf(state.axis), extent = info.dim === 3 ? info.hi[along] - info.lo[along] : 1, unit = lengthUnit(info, extent);
  $("at-text").textContent = short((state.at * extent + (info.lo[along] ?? 0)) / unit.size, 3) + " " + (info.lengths.length ? unit.name : "");
  $("time-line").hidden = steps.length < 2;
  $("time").max = steps.length - 1;
  set("time", view.step);
  $("time-text").textContent = info.time_text;
  panes.forEach((pane) => pane.figure.classList.toggle("drawing", state.draw !== ""));
}

function set(id, value) { if (document.activeElement !== $(id) || $(id).type === "range" || $(id).tagName === "SELECT") $(id).value = value; }

function fill(list, rows) {
  const key = JSON.stringify(rows);
  if (list.dataset.rows === key) return;
  list.dataset.rows = key;
  list.replaceChildren(...rows.map(([value, text]) => { const option = document.createElement("option"); option.value = value; option.textContent = text; return option; }));
}

function showLimits() {
  const scale = scales[state.mode === "two" ? state.side : 0];
  if (!scale || document.activeElement === $("low") || document.activeElement === $("high")) return;
  $("low").value = short(scale.low);
  $("high").value = short(scale.high);
}

// After any change of the state.
let turn = 0;
async function changed() {
  const mine = ++turn;
  document.body.dataset.state = "loading";
  await guarded(async () => {
    await settle();
    if (mine !== turn) return;
    showControls();
    if (!(state.w > 0)) fit();
    redraw();
  });
}

function listen() {
  const views = ["field", "kind", "weight", "unit", "scale"], shared = ["where", "level", "colours", "region", "over", "other"];
  for (const name of views) $(name).addEventListener("change", () => { active()[name] = $(name).value.trim(); if (name !== "scale") forget(false); changed(); });
  for (const name of shared) $(name).addEventListener("change", () => { state[name] = $(name).value.trim(); changed(); });
  for (const name of ["mesh", "particles"]) $(name).addEventListener("change", () => { state[name] = $(name).checked; changed(); });
  $("step").addEventListener("change", () => { active().step = Number($("step").value); changed(); });
  $("time").addEventListener("input", () => { active().step = Number($("time").value); changed(); });
  $("at").addEventListener("input", () => { state.at = Number($("at").value); changed(); });
  document.querySelectorAll("input[type=radio]").forEach((radio) => radio.addEventListener("change", () => choose(radio.name, radio.value)));
  $("follow").addEventListener("change", () => stay(!$("follow").checked));
  for (const name of ["low", "high"]) $(name).addEventListener("change", () => {
    const text = $(name).value.trim();
    stay(true);
    active()[name] = text;
    changed();
  });
  $("panel").addEventListener("submit", (event) => event.preventDefault());
  $("menu").addEventListener("click", () => $("menu").setAttribute("aria-expanded", document.body.classList.toggle("open")));
  $("menu").addEventListener("click", () => { $("menu").textContent = document.body.classList.contains("open") ? "Picture" : "Controls"; });
  for (const what of ["stats", "profile", "phase"]) $(`do-${what}`).addEventListener("click", () => guarded(() => compute(what)));
  for (const [id, form] of [["copy-command", "command"], ["copy-python", "python"]]) $(id).addEventListener("click", () => guarded(() => copy(pictureWords(), form, $("copied"))));
  for (const [id, form] of [["result-command", "command"], ["result-python", "python"]]) $(id).addEventListener("click", () => guarded(() => copy(result, form, $("copied"))));
  $("close-result").addEventListener("click", () => { $("result").hidden = true; });
  $("save").addEventListener("click", () => guarded(save));
}

function choose(name, value) {
  if (name === "side") state.side = Number(value);
  else state[name] = value;
  if (name === "mode" && value !== "one" && !state.views[1].field) state.views[1] = {...state.views[0], step: Math.min(state.views[0].step + 1, steps.length - 1)};
  if (name === "mode" && value === "one") state.side = 0;
  if (name === "axis") state.w = null;
  changed();
  if (name === "mode") setTimeout(() => { state.w = null; changed(); }, 0);
}

// Limits that stay are those that are shown now.
function stay(yes) {
  const view = active(), scale = scales[state.mode === "two" ? state.side : 0];
  if (yes && view.follow && scale) [view.low, view.high] = [String(scale.low), String(scale.high)];
  view.follow = !yes;
  if (!yes) view.low = view.high = "";
  changed();
}

// ------------------------------------------------------------------ what is computed, and taken away

async function compute(what) {
  const view = active(), words = {...lookOf(view)};
  delete words.unit;
  if (state.region) words.region = state.region;
  if (what === "profile") {
    words.other = state.over || "radius";
    const sphere = /^sphere:([^:]+):/.exec(state.region);
    if (words.other === "radius" && sphere) words.centre = sphere[1];
  }
  if (what === "phase") words.other = state.other || (infoOf(view).fields.find((field) => field.name !== view.field) ?? {name: view.field}).name;
  $("result").hidden = false;
  $("result").querySelector("h2").textContent = "Computing …";
  $("result-body").replaceChildren();
  result = {step: view.step, words: {...words, what}};
  try {
    const facts = await (await ask(`step/${view.step}/${what}`, words)).json();
    $("result").querySelector("h2").textContent = {stats: `Statistics of ${view.field}`, profile: `${view.field} over ${words.other}`, phase: `${words.other} over ${view.field}`}[what] + (state.region ? ` in ${state.region}` : "");
    if (what === "stats") return $("result-body").replaceChildren(statistics(facts));
    const canvas = document.createElement("canvas");
    $("result-body").replaceChildren(canvas);
    (what === "profile" ? profile : phase)(canvas, facts);
  } catch (error) {
    $("result").querySelector("h2").textContent = "There is no answer";
    $("result-body").textContent = error.message;
  }
}

function pictureWords() {
  const i = state.mode === "two" ? state.side : 0, view = active(), scale = scales[i];
  return {step: view.step, words: {...lookOf(view), ...panes[i].window(infoOf(view)), what: "picture", low: scale.low, high: scale.high,
    scale: scale.log ? "log" : "linear", colours: scale.colours}};
}

async function copy({step, words}, form, shown) {
  const text = (await (await ask(`step/${step}/lines`, words)).json())[form];
  shown.hidden = false;
  shown.textContent = text;
  try { await navigator.clipboard.writeText(text); } catch { /* the text stands there to be copied by hand */ }
}

async function save() {
  const ratio = window.devicePixelRatio || 1, shown = panes.slice(0, state.mode === "two" ? 2 : 1), wide = 110 * ratio, head = 44 * ratio;
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
    drawBar(context, wide, canvas.height - head, ratio, scales[i], one ? one.facts.label : "", one ? one.facts.unit : "", css("--front"));
    context.restore();
    x += pane.canvas.width + wide;
  });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await new Promise((done) => canvas.toBlob(done)));
  link.download = `${infoOf(state.views[0]).name}_${state.views[0].field}.png`.replace(/[^\w.+-]+/g, "_");
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

// ------------------------------------------------------------------ pointer and keys

function zoomBy(factor, x = state.x, y = state.y) {
  const info = infoOf(state.views[0]);
  if (!info) return;
  const {side} = domainOf(info, state.axis), w = Math.min(Math.max(state.w * factor, side * 1e-9), side * 20);
  state.x = x + (state.x - x) * w / state.w;
  state.y = y + (state.y - y) * w / state.w;
  state.w = w;
  redraw();
}

function pointer(pane) {
  const {canvas} = pane, held = new Map();
  let from = null;
  const at = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
  canvas.addEventListener("wheel", (event) => { event.preventDefault(); zoomBy(1.0015 ** event.deltaY, ...pane.place(...at(event))); }, {passive: false});
  canvas.addEventListener("dblclick", (event) => zoomBy(0.5, ...pane.place(...at(event))));
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    held.set(event.pointerId, at(event));
    from = pane.place(...at(event));
  });
  canvas.addEventListener("pointermove", (event) => {
    const now = at(event), before = held.get(event.pointerId);
    hover(pane, now);
    if (!before) return;
    if (held.size === 2) pinch(pane, held, event.pointerId, now);
    else if (state.draw && infoOf(active())) { state.region = regionText(state.draw, infoOf(active()), from, pane.place(...now)); $("region").value = state.region; }
    else {
      const [x0, y0] = pane.place(...before), [x1, y1] = pane.place(...now);
      state.x += x0 - x1;
      state.y += y0 - y1;
    }
    held.set(event.pointerId, now);
    redraw();
  });
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => held.delete(event.pointerId));
  canvas.addEventListener("pointerleave", () => { $("values").textContent = ""; });
}

function pinch(pane, held, id, now) {
  const [other] = [...held].filter(([key]) => key !== id).map(([, place]) => place), before = held.get(id);
  const apart = (a) => Math.max(1, Math.hypot(a[0] - other[0], a[1] - other[1]));
  zoomBy(apart(before) / apart(now), ...pane.place(...other));
}

function hover(pane, [px, py]) {
  const view = views()[panes.indexOf(pane)]?.[0], info = view && infoOf(view), found = info && pane.valueAt(px, py);
  if (!found) { $("values").textContent = ""; return; }
  const [a, b] = ACROSS[state.axis], {size, name} = lengthUnit(info, domainOf(info, state.axis).side);
  const unit = unitText(pane.tiles().there[0]?.facts.unit ?? ""), values = found.values.map((value) => short(value, 6));
  const what = state.mode === "difference" ? `A ${values[0]}, B ${values[1]}, B − A ${short(found.values[1] - found.values[0], 6)}` : `${view.field} = ${values[0]}`;
  $("values").textContent = `${what} ${unit}   ${"xyz"[a]} = ${short(found.x / size, 6)}, ${"xyz"[b]} = ${short(found.y / size, 6)} ${name}` + (Number.isFinite(found.level) ? `   level ${found.level}` : "");
}

function key(event) {
  if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && !["radio", "checkbox"].includes(event.target.type)) return;
  if (event.ctrlKey || event.metaKey || event.altKey || !infoOf(active())) return;
  const move = (x, y) => { state.x += x * state.w; state.y += y * state.w; redraw(); };
  const step = (by) => { active().step = Math.min(Math.max(active().step + by, 0), steps.length - 1); changed(); };
  const plane = (by) => { state.at = Math.min(1, Math.max(0, state.at + by)); changed(); };
  const flip = (name) => { state[name] = !state[name]; changed(); };
  const does = {
    ArrowLeft: () => move(-0.1, 0), ArrowRight: () => move(0.1, 0), ArrowUp: () => move(0, 0.1), ArrowDown: () => move(0, -0.1),
    "+": () => zoomBy(0.7), "=": () => zoomBy(0.7), "-": () => zoomBy(1 / 0.7), 0: () => { fit(); redraw(); },
    "[": () => plane(-0.01), "]": () => plane(0.01), ",": () => step(-1), ".": () => step(1),
    l: () => { active().scale = scales[state.mode === "two" ? state.side : 0]?.log ? "linear" : "log"; changed(); },
    m: () => flip("mesh"), p: () => flip("particles"), b: () => choose("draw", state.draw === "box" ? "" : "box"),
    s: () => choose("draw", state.draw === "sphere" ? "" : "sphere"), Escape: () => { state.region = state.draw = ""; $("region").value = ""; changed(); },
  }[event.key];
  const axis = ["x", "y", "z"].includes(event.key) && infoOf(active()).dim === 3;
  if (event.key.startsWith("Arrow") && event.target.type === "radio") return;
  if (!does && !axis) return;
  event.preventDefault();
  if (axis) choose("axis", event.key); else does();
}

// ------------------------------------------------------------------ start

async function start() {
  ({steps} = await (await ask("steps")).json());
  fromAddress(location.hash);
  listen();
  panes.forEach(pointer);
  document.addEventListener("keydown", key);
  window.addEventListener("hashchange", () => { fromAddress(location.hash); changed(); });
  window.addEventListener("resize", redraw);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  onChange(redraw);
  await changed();
}

guarded(start);
