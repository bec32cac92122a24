// Ties the controls to the state, the state to requests, and answers to pictures.

import {MAPS, scaleOf, short} from "./colours.js";
import {findGround, hasGround, host, useGround} from "./ground.js";
import {listenToKeys, listenToPointer, lookAlong} from "./hands.js";
import {Pane, lengthUnit, levelLook} from "./pane.js";
import {domainOf} from "./regions.js";
import {$, active, activePane, guarded, infoOf, say, scene, views} from "./scene.js";
import {nearest, openSite, published, site} from "./site.js";
import {drawSolid, valueOf} from "./solid.js";
import {fromAddress, isSolid, state, toAddress} from "./state.js";
import {compute, copyPicture, copyResult, saveFile, savePicture} from "./take.js";
import {ask, forget, onChange, read, tile, want} from "./tiles.js";

const {infos, panes} = scene;
panes.push(...[...document.querySelectorAll(".pane")].map((figure) => new Pane(figure)));

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
    view.step = Math.min(Math.max(0, Math.round(view.step)), scene.steps.length - 1);
    const info = await load(view.step);
    if (!view.field) view.field = usualField(info);
    if (site()) nearest(view);
    if (info.dim < 3 || info.triangles) {
      state.axis = "z";
      if (isSolid(view)) view.kind = "slice";
    }
    if (info.dim < 2) throw new Error("1-D data has no picture\ntry: octavo line, octavo profile");
  }
}

// All of the domain, in its middle.
function fit() {
  const info = infoOf(state.views[0]), {lo, hi} = domainOf(info, state.axis), box = panes[0].canvas.getBoundingClientRect();
  const aspect = box.width / Math.max(1, box.height);
  state.x = state.y = state.cx = state.cy = state.cz = null;
  state.w = isSolid(active()) ? Math.hypot(...info.hi.map((hi, i) => hi - info.lo[i])) * Math.max(1, aspect)
    : Math.max(hi[0] - lo[0], (hi[1] - lo[1]) * aspect) * 1.04;
  centre();
}

// Where the address names no middle of flat pictures: the domain's.
function centre() {
  const {lo, hi} = domainOf(infoOf(state.views[0]), state.axis);
  state.x ??= (lo[0] + hi[0]) / 2;
  state.y ??= (lo[1] + hi[1]) / 2;
}

// ------------------------------------------------------------------ pictures

let asked = false;
function redraw() {
  if (asked) return;
  asked = true;
  document.body.dataset.state = "loading";
  document.body.dataset.address = "waits";
  requestAnimationFrame(() => { asked = false; draw(); });
}

function draw() {
  const shown = views();
  if (shown.flat().some((view) => !infoOf(view)) || !scene.steps.length) return;
  panes[1].figure.hidden = shown.length < 2;
  const keys = shown.map((of, i) => panes[i].keys(infoOf(of[0]), of));
  want([...new Set(keys.flat())]);
  const tiles = shown.map((_, i) => panes[i].tiles());
  const extremes = tiles.map(({there}, i) => panes[i].extremes(there));
  if (shown.length === 2 && sameValues()) extremes[0] = extremes[1] = joined(...extremes);
  const wrong = shown.map((of, i) => drawPane(panes[i], i, of, tiles[i], extremes[i]));
  const failed = [...tiles.map(({failed}) => failed), ...wrong].find(Boolean);
  say(failed ?? "");
  const all = tiles.every(({all}) => all) && shown.every((_, i) => panes[i].levels.every((key) => tile(key)));
  document.body.dataset.state = failed ? "failed" : all && !scene.moving ? "ready" : "loading";
  const hidden = panes[0].overlay?.lines && !panes[0].overlay.points.length ? "too many mesh lines: zoom in   " : "";
  $("read").textContent = `${hidden}${read.tiles} ${isSolid(active()) ? "bricks" : "tiles"}, at most ${short(read.bytes / 1e6, 3)} MB read`;
  showLimits();
  if (all) overlays();
  keepAddress();
}

// Returns why it could not be drawn, if so.
function drawPane(pane, i, of, tiles, extremes) {
  const view = state.mode === "difference" ? {...of[0], scale: "linear"} : of[0], {scales} = scene, info = infoOf(of[0]);
  const settled = tiles.all || !scales[i] || !view.follow; // colours do not flicker while tiles come in
  if (settled) scales[i] = scaleOf(extremes, view, state.colours);
  const one = tiles.there[0];
  pane.drawBar(scales[i], one ? one.facts.label : view.field, one ? one.facts.unit : "");
  pane.caption.textContent = captionOf(of, i) + damageOf(tiles.there) + (hasGround(info) && state.ground ? `\nmap: ${host()}` : "");
  if (!isSolid(view)) return pane.draw(info, scales[i], tiles);
  try { drawSolid(pane, info, view, scales[i], scene.moving || !tiles.all); } catch (error) { return error.message; }
  return "";
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
  waiting = setTimeout(() => views().forEach((of, i) => {
    overlay(panes[i], of[0]);
    const info = infoOf(of[0]);
    if (info && state.ground && hasGround(info)) guarded(() => findGround(panes[i], of[0].step));
  }), 150);
}

async function overlay(pane, view) {
  const info = infoOf(view);
  if (!info || isSolid(view)) return; // another step was chosen meanwhile, or a volume has no overlay
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
  $("name").textContent = info.name;
  $("when").textContent = `${info.code || info.format}, ${info.time_text}`;
  document.title = `${info.name} · Octavo view`;
  fillLists(info);
  for (const name of ["step", "field", "kind", "weight", "unit", "scale"]) set(name, view[name]);
  for (const name of ["where", "level", "colours", "region", "line", "over", "other", "at", "turn", "tilt", "opacity"]) set(name, state[name]);
  for (const name of ["mesh", "particles", "ground"]) $(name).checked = state[name];
  $("follow").checked = view.follow;
  hideControls(view, info);
  const along = "xyz".indexOf(state.axis), extent = info.dim === 3 ? info.hi[along] - info.lo[along] : 1, unit = lengthUnit(info, extent);
  $("at-text").textContent = short((state.at * extent + (info.lo[along] ?? 0)) / unit.size, 3) + " " + (info.lengths.length ? unit.name : "");
  $("time").max = scene.steps.length - 1;
  set("time", view.step);
  $("time-text").textContent = info.time_text;
  panes.forEach((pane) => pane.figure.classList.toggle("drawing", state.draw !== "" && !isSolid(view)));
}

function fillLists(info) {
  const {steps} = scene, stored = info.fields.map((field) => field.name);
  const fields = site() ? published(active()).fields : [...stored, ...(info.triangles ? [] : ["level"])];
  fill($("fields"), fields.map((name) => [name, name]));
  fill($("step"), steps.map((step, i) => [i, steps.filter((other) => other.name === step.name).length > 1 ? `${step.name}, step ${step.step}` : step.name]));
  fill($("level"), [["", "all"], ...info.levels.map(({level}) => [level, level])]);
  fill($("colours"), [["", "automatic"], ...Object.keys(MAPS).map((name) => [name, name])]);
  fill($("scale"), [["", "automatic"], ["linear", "linear"], ["log", "logarithmic"]]);
}

function hideControls(view, info) {
  const solid = isSolid(view), flat = info.dim < 3 || info.triangles;
  const hide = (id, yes) => { $(id).hidden = yes; };
  $("kind").options[0].textContent = flat ? "values" : "slice";
  for (const option of $("kind").options) {
    const none = site() ? !published(view).kinds.has(option.value) : flat && (isSolid({kind: option.value}) || (info.dim < 3 && ["integral", "mean"].includes(option.value)));
    option.hidden = option.disabled = none;
  }
  for (const radio of document.querySelectorAll("input[name=axis]")) radio.disabled = Boolean(site()) && !solid && !published(view).axes.has(radio.value);
  hide("which", state.mode === "one");
  hide("weight-line", view.kind !== "mean" || Boolean(site()));
  hide("axes", info.dim < 3 || solid);
  hide("at-line", info.dim < 3 || view.kind !== "slice");
  hide("level-line", info.triangles || Boolean(site()));
  hide("camera", !solid);
  hide("value-line", view.kind !== "surface");
  hide("opacity-line", view.kind !== "volume");
  hide("over-it", solid);
  hide("drawing", solid);
  hide("mesh-line", Boolean(site()) && !site().looks.some((one) => one.field === "level" && one.kind === levelLook(info).kind && one.axis === state.axis));
  hide("particles-line", !info.species.length || Boolean(site()));
  hide("ground-line", !hasGround(info));
  hide("time-line", scene.steps.length < 2);
  for (const id of ["save-pdf", "save-tif"]) $(id).disabled = solid;
}

function set(id, value) { if (document.activeElement !== $(id) || $(id).type === "range" || $(id).tagName === "SELECT") $(id).value = value; }

function fill(list, rows) {
  const key = JSON.stringify(rows);
  if (list.dataset.rows === key) return;
  list.dataset.rows = key;
  list.replaceChildren(...rows.map(([value, text]) => { const option = document.createElement("option"); option.value = value; option.textContent = text; return option; }));
}

function showLimits() {
  const scale = scene.scales[activePane()];
  if (scale && document.activeElement !== $("value")) $("value").value = short(valueOf(scale), 6);
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
    centre();
    redraw();
  });
}

function listen() {
  const on = (id, event, call) => $(id).addEventListener(event, call);
  for (const name of ["field", "weight", "unit", "scale"]) on(name, "change", () => { active()[name] = $(name).value.trim(); if (name !== "scale") forget(false); scene.changed(); });
  for (const name of ["where", "level", "colours", "region", "line", "over", "other", "value"]) on(name, "change", () => { state[name] = $(name).value.trim(); scene.changed(); });
  for (const name of ["mesh", "particles", "ground"]) on(name, "change", () => { state[name] = $(name).checked; scene.changed(); });
  for (const name of ["at", "turn", "tilt", "opacity"]) on(name, "input", () => { state[name] = Number($(name).value); scene.changed(); });
  on("kind", "change", () => chooseKind($("kind").value));
  on("step", "change", () => { active().step = Number($("step").value); scene.changed(); });
  on("time", "input", () => { active().step = Number($("time").value); scene.changed(); });
  document.querySelectorAll("input[type=radio]").forEach((radio) => radio.addEventListener("change", () => choose(radio.name, radio.value)));
  document.querySelectorAll("[data-axis]").forEach((button) => button.addEventListener("click", () => choose("axis", button.dataset.axis)));
  on("follow", "change", () => stay(!$("follow").checked));
  for (const name of ["low", "high"]) on(name, "change", () => {
    const text = $(name).value.trim();
    stay(true);
    active()[name] = text;
    scene.changed();
  });
  on("panel", "submit", (event) => event.preventDefault());
  on("menu", "click", () => $("menu").setAttribute("aria-expanded", document.body.classList.toggle("open")));
  on("menu", "click", () => { $("menu").textContent = document.body.classList.contains("open") ? "Picture" : "Controls"; });
  for (const what of ["stats", "profile", "phase", "line"]) on(`do-${what}`, "click", () => guarded(() => compute(what)));
  for (const form of ["command", "python"]) {
    on(`copy-${form}`, "click", () => guarded(() => copyPicture(form)));
    on(`result-${form}`, "click", () => guarded(() => copyResult(form)));
  }
  on("close-result", "click", () => { $("result").hidden = true; });
  on("save", "click", () => guarded(savePicture));
  for (const kind of ["pdf", "tif"]) on(`save-${kind}`, "click", () => guarded(() => saveFile(kind)));
}

function choose(name, value) {
  if (name === "axis" && lookAlong(value)) return scene.changed();
  if (name === "side") state.side = Number(value);
  else state[name] = value;
  if (name === "mode" && value !== "one" && !state.views[1].field) state.views[1] = {...state.views[0], step: Math.min(state.views[0].step + 1, scene.steps.length - 1)};
  if (name === "mode" && value === "one") state.side = 0;
  if (name === "axis") state.w = null;
  scene.changed();
  if (name === "mode") setTimeout(() => { state.w = null; scene.changed(); }, 0);
}

// Between flat pictures and volumes the window begins anew. A difference has two of one kind.
function chooseKind(kind) {
  const before = isSolid(active());
  active().kind = kind;
  if (state.mode === "difference" && (before || isSolid(active()))) for (const view of state.views) view.kind = kind;
  if (before !== isSolid(active())) state.w = null;
  forget(false);
  scene.changed();
}

// Limits that stay are those that are shown now.
function stay(yes) {
  const view = active(), scale = scene.scales[activePane()];
  if (yes && view.follow && scale) [view.low, view.high] = [String(scale.low), String(scale.high)];
  view.follow = !yes;
  if (!yes) view.low = view.high = "";
  changed();
}

// ------------------------------------------------------------------ start

// Steps that a run has written meanwhile come to the end of the slider.
async function lookForSteps() {
  const {steps} = await (await ask("steps")).json();
  if (steps.length === scene.steps.length) return;
  scene.steps = steps;
  if (infoOf(active())) showControls();
}

// Shows the facts that a site gives about itself.
function showAbout({title, about}) {
  $("about").hidden = false;
  $("about-title").textContent = title;
  $("about-list").replaceChildren(...about.map(([name, text]) => { const line = document.createElement("p"); line.textContent = `${name}: ${text}`; return line; }));
  document.body.classList.add("site"); // hides what only a server can do
}

async function start() {
  const published = document.documentElement.dataset.site;
  if (published) {
    await openSite(published);
    showAbout(site());
  }
  const {steps, ground} = await (await ask("steps")).json();
  scene.steps = steps;
  useGround(ground);
  fromAddress(location.hash);
  listen();
  panes.forEach(listenToPointer);
  listenToKeys(choose, fit);
  window.addEventListener("hashchange", () => { fromAddress(location.hash); changed(); });
  window.addEventListener("resize", redraw);
  window.addEventListener("focus", () => guarded(lookForSteps));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  onChange(redraw);
  await changed();
}

Object.assign(scene, {redraw, changed});
guarded(start);
