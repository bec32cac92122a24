// Ties the controls to the state, the state to requests, and answers to pictures.

import {MAPS, scaleOf, short} from "./colours.js";
import {domainKey, mend, usualField} from "./fits.js";
import {findGround, hasGround, host, useGround} from "./ground.js";
import {listenToKeys, listenToPointer, lookAlong} from "./hands.js";
import {Pane, lengthUnit, levelLook} from "./pane.js";
import {domainOf} from "./regions.js";
import {$, active, activePane, guarded, infoOf, say, scene, views} from "./scene.js";
import {nearest, openSite, published, site} from "./site.js";
import {drawSolid, valueOf} from "./solid.js";
import {fromAddress, isSolid, state, toAddress} from "./state.js";
import {close, compute, copyPicture, copyResult, saveFile, savePicture} from "./take.js";
import {ask, filesAre, forget, isOfNow, onChange, onStale, read, retry, tile, unpacked, want} from "./tiles.js";

const {infos, panes} = scene;
panes.push(...[...document.querySelectorAll(".pane")].map((figure) => new Pane(figure)));

// ------------------------------------------------------------------ steps

async function load(step) {
  while (!infos.has(step)) {
    const path = `step/${step}`, answer = await ask(path), facts = await answer.json();
    if (isOfNow(path, answer)) infos.set(step, facts);
  }
  return infos.get(step);
}

const shownBefore = [null, null]; // the facts of the step that each view showed last
let domain = null;                // of the view whose window is shown; null: the address says the window

// Fills in what the address does not say, and mends what does not fit the data.
async function settle() {
  for (const [i, view] of state.views.entries()) {
    if (i && state.mode === "one") continue;
    view.step = Math.min(Math.max(0, Math.round(view.step)), scene.steps.length - 1);
    const info = await load(view.step);
    if (shownBefore[i] && shownBefore[i] !== info) mend(view, shownBefore[i], info);
    shownBefore[i] = info;
    if (!view.field) view.field = usualField(info);
    if (site()) nearest(view);
    if (info.dim < 3 || info.triangles) {
      state.axis = "z";
      if (isSolid(view)) view.kind = "slice";
    }
    if (info.dim < 2) throw new Error("1-D data has no picture\ntry: octavo line, octavo profile");
  }
  const now = domainKey(infoOf(active()));
  if (domain !== null && domain !== now) state.w = null; // the window begins anew
  domain = now;
}

// All of the domain of the view that the controls change, in its middle.
function fit() {
  const info = infoOf(active()), {lo, hi} = domainOf(info, state.axis), box = panes[0].canvas.getBoundingClientRect();
  const aspect = box.width / Math.max(1, box.height);
  state.x = state.y = state.cx = state.cy = state.cz = null;
  state.w = isSolid(active()) ? Math.hypot(...info.hi.map((hi, i) => hi - info.lo[i])) * Math.max(1, aspect)
    : Math.max(hi[0] - lo[0], (hi[1] - lo[1]) * aspect) * 1.04;
  centre();
}

// Where the address names no middle of flat pictures: the domain's.
function centre() {
  const {lo, hi} = domainOf(infoOf(active()), state.axis);
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
  const keys = shown.map((of, i) => panes[i].keys(infoOf(of[0]), of));
  want([...new Set(keys.flat())]);
  const tiles = shown.map((_, i) => panes[i].tiles());
  const extremes = tiles.map(({there}, i) => panes[i].extremes(there));
  if (shown.length === 2 && sameValues()) extremes[0] = extremes[1] = joined(...extremes);
  const wrong = shown.map((of, i) => drawPane(panes[i], i, of, tiles[i], extremes[i]));
  const failed = [...tiles.map(({failed}) => failed), ...wrong].find(Boolean);
  say(failed ?? (keys.every((of) => !of.length) ? "the window shows nothing of the domain\ntry: the key 0 shows all of it" : ""));
  if (failed || tiles.some(({there}) => there.some(({facts}) => facts.damaged?.length))) lookAgain();
  const all = tiles.every(({all}) => all) && shown.every((_, i) => panes[i].levels.every((key) => tile(key)));
  document.body.dataset.state = failed ? "failed" : all && !scene.moving ? "ready" : "loading";
  panes.forEach((pane, i) => giveUp(pane, shown[i] && JSON.stringify(overWords(pane, shown[i][0]))));
  $("read").textContent = `${overText(panes[0])}${read.tiles} ${isSolid(active()) ? "brick" : "tile"}${read.tiles === 1 ? "" : "s"}, at most ${short(read.bytes / 1e6, 3)} MB read`;
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

// The question about what lies over a picture; null: nothing does.
function overWords(pane, view) {
  const info = infoOf(view), seen = info && !isSolid(view) && pane.window(info);
  if (!seen) return null;
  const words = {axis: state.axis, ...seen};
  if (state.particles && info.particles.length) {
    words.species = state.species || info.particles[0];
    if (view.kind === "slice" && info.dim === 3) { words.from = Math.max(0, state.at - 0.01); words.to = Math.min(1, state.at + 0.01); }
    return {path: `step/${view.step}/particles`, words};
  }
  return state.mesh && info.triangles ? {path: `step/${view.step}/edges`, words} : null;
}

// Gives up waiting for what would lie over a picture that is no longer shown: the server stops then.
function giveUp(pane, wanted) {
  if (!pane.asking || pane.asking.key === wanted) return;
  pane.asking.control.abort();
  pane.asking = null;
}

async function overlay(pane, view) {
  const question = overWords(pane, view), key = JSON.stringify(question);
  if (!question) { if (pane.overlay && !isSolid(view)) { pane.overlay = null; redraw(); } return; }
  if (pane.overlay?.key === key || pane.asking?.key === key) return;
  const {axis, x0, y0} = question.words, control = new AbortController();
  pane.asking = {key, control};
  await guarded(async () => {
    const {facts, values} = unpacked(await (await ask(question.path, question.words, control.signal)).arrayBuffer());
    read.bytes += facts.bytes_read;
    pane.overlay = {key, facts, points: values, x0, y0, axis, lines: question.path.endsWith("edges")};
    redraw();
  });
  if (pane.asking?.control === control) pane.asking = null;
}

// Says how many of them are drawn.
function overText({overlay}) {
  if (!overlay) return "";
  const {points, lines, facts} = overlay;
  $("read").dataset.over = points.length;
  if (lines) return facts.count && !points.length ? "too many mesh lines: zoom in   " : "";
  return `${points.length / 2} of ${facts.count} particles   `;
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
  $("where").placeholder = /^\w+$/.test(usualField(info)) ? `${usualField(info)} > 1e-3` : `"${usualField(info)}" > 1e-3`;
  $("at-text").textContent = short((state.at * extent + (info.lo[along] ?? 0)) / unit.size, 3) + " " + (info.lengths.length ? unit.name : "");
  $("time").max = scene.steps.length - 1;
  set("species", state.species || info.particles[0]);
  set("time", view.step);
  $("time-text").textContent = info.time_text;
  panes.forEach((pane) => pane.figure.classList.toggle("drawing", state.draw !== "" && !isSolid(view)));
}

function fillLists(info) {
  const {steps} = scene, stored = info.fields.map((field) => field.name);
  const fields = site() ? published(active()).fields : [...stored, ...info.derived, ...(info.triangles ? [] : ["level"])];
  fill($("fields"), fields.map((name) => [name, name]));
  fill($("step"), steps.map((step, i) => [i, steps.filter((other) => other.name === step.name).length > 1 ? `${step.name}, step ${step.step}` : step.name]));
  fill($("level"), [["", "all"], ...info.levels.map(({level}) => [level, level])]);
  fill($("species"), info.particles.map((name) => [name, name]));
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
  hide("particles-line", !info.particles.length || Boolean(site()));
  hide("species-line", info.particles.length < 2 || !state.particles || Boolean(site()));
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
  const done = await guarded(async () => {
    await settle();
    if (mine !== turn) return true;
    pause = PAUSE;
    showControls();
    panes[1].figure.hidden = views().length < 2; // fit() looks at the width that this leaves
    if (!(state.w > 0)) fit();
    centre();
    redraw();
    return true;
  });
  if (!done) lookAgain();
}

function listen() {
  const on = (id, event, call) => $(id).addEventListener(event, call);
  for (const name of ["field", "weight", "unit", "scale"]) on(name, "change", () => { active()[name] = $(name).value.trim(); if (name !== "scale") forget(); scene.changed(); });
  for (const name of ["where", "level", "colours", "region", "line", "over", "other", "value"]) on(name, "change", () => { state[name] = $(name).value.trim(); scene.changed(); });
  for (const name of ["mesh", "particles", "ground"]) on(name, "change", () => { state[name] = $(name).checked; scene.changed(); });
  for (const name of ["at", "turn", "tilt", "opacity"]) on(name, "input", () => { state[name] = Number($(name).value); scene.changed(); });
  on("species", "change", () => { state.species = $("species").value; scene.changed(); });
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
  on("close-result", "click", close);
  on("save", "click", () => guarded(savePicture));
  for (const kind of ["pdf", "tif"]) on(`save-${kind}`, "click", () => guarded(() => saveFile(kind)));
}

function choose(name, value) {
  if (name === "axis" && lookAlong(value)) return scene.changed();
  if (name === "side") state.side = Number(value);
  else state[name] = value;
  if (name === "mode" && value !== "one" && !state.views[1].field) {
    state.views[1] = {...state.views[0], step: Math.min(state.views[0].step + 1, scene.steps.length - 1)};
    shownBefore[1] = shownBefore[0];
  }
  if (name === "mode" && value === "one") state.side = 0;
  if (name === "axis" || name === "mode") state.w = null;
  scene.changed();
}

// Between flat pictures and volumes the window begins anew. A difference has two of one kind.
function chooseKind(kind) {
  const before = isSolid(active());
  active().kind = kind;
  if (state.mode === "difference" && (before || isSolid(active()))) for (const view of state.views) view.kind = kind;
  if (before !== isSolid(active())) state.w = null;
  forget();
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

// Steps that a run has written meanwhile come to the end of the slider; those whose files changed are shown anew.
async function lookForSteps() {
  const {steps, skipped} = await (await ask("steps")).json(), more = steps.length !== scene.steps.length;
  scene.steps = steps;
  showSkipped(skipped ?? []);
  steps.forEach(({state}, step) => filesAre(step, state));
  if (more && infoOf(active())) showControls();
}

// While something fails, is damaged or half written, the page looks whether it still is: soon, then more rarely.
const PAUSE = 2000, LONGEST_PAUSE = 60000;
let pause = PAUSE, looking = 0;
function lookAgain() {
  if (looking) return;
  looking = setTimeout(() => {
    looking = 0;
    pause = Math.min(LONGEST_PAUSE, 1.5 * pause);
    look();
  }, pause);
}

async function look() {
  try { if (!site()) await lookForSteps(); } catch { /* what is asked for next says so */ }
  if (views().flat().some((view) => !infoOf(view))) return changed();
  if (!retry()) redraw();
}

function showSkipped(skipped) {
  $("skipped").hidden = !skipped.length;
  $("skipped").querySelector("summary").textContent = `${skipped.length} left out: not whole`;
  $("skipped").querySelector("p").textContent = skipped.join("\n");
  if (skipped.length) lookAgain();
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
  const {steps, skipped, ground} = await (await ask("steps")).json();
  scene.steps = steps;
  showSkipped(skipped ?? []);
  useGround(ground);
  fromAddress(location.hash);
  listen();
  panes.forEach(listenToPointer);
  listenToKeys(choose, fit);
  window.addEventListener("hashchange", () => { fromAddress(location.hash); domain = null; shownBefore.fill(null); changed(); });
  window.addEventListener("resize", redraw);
  window.addEventListener("focus", look);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  onChange(redraw);
  onStale((step) => {
    infos.delete(step);
    for (const pane of panes) { pane.overlay = null; giveUp(pane, null); }
    scene.changed();
  });
  await changed();
}

Object.assign(scene, {redraw, changed});
guarded(start);
