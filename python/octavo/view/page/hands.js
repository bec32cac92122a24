// Pointer, wheel and keys.

import {short, unitText} from "./colours.js";
import {lengthUnit} from "./pane.js";
import {ACROSS, domainOf, drawnText} from "./regions.js";
import {$, active, activePane, infoOf, scene, views} from "./scene.js";
import {nextPlane, site} from "./site.js";
import {ANGLES, shift, sideOf} from "./solid.js";
import {isSolid, state, within} from "./state.js";

const DEGREES = 0.4; // that the camera turns for a pixel of a drag

let still = 0;
// The picture is drawn fast while it moves, and well once it stands still.
function moving() {
  scene.moving = true;
  clearTimeout(still);
  still = setTimeout(() => { scene.moving = false; scene.redraw(); }, 200);
  scene.redraw();
}

const solid = () => isSolid(active());

function zoomBy(factor, x = null, y = null) {
  const info = infoOf(active());
  if (!info) return;
  const side = sideOf(info), w = within(state.w * factor, side * 1e-9, side * 20);
  if (x !== null && !solid()) {
    state.x = x + (state.x - x) * w / state.w;
    state.y = y + (state.y - y) * w / state.w;
  }
  state.w = w;
  moving();
}

function turnBy(turn, tilt) {
  state.turn = ((state.turn + turn + 180) % 360 + 360) % 360 - 180;
  state.tilt = within(state.tilt + tilt, -90, 90);
  for (const name of ["turn", "tilt"]) $(name).value = state[name];
  moving();
}

// By parts of the window's width: what is seen moves to the left and down.
function moveBy(x, y) {
  if (solid()) shift(infoOf(active()), x * state.w, y * state.w);
  else { state.x += x * state.w; state.y += y * state.w; }
  moving();
}

export function listenToPointer(pane) {
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
    const now = at(event), before = held.get(event.pointerId), width = canvas.getBoundingClientRect().width;
    hover(pane, now);
    if (!before) return;
    const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
    if (held.size === 2) pinch(pane, held, event.pointerId, now);
    else if (solid() && !event.shiftKey) turnBy(-DEGREES * dx, DEGREES * dy);
    else if (state.draw && !solid() && infoOf(active())) draw(pane, from, now);
    else moveBy(-dx / width, dy / width);
    held.set(event.pointerId, now);
  });
  for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, (event) => held.delete(event.pointerId));
  canvas.addEventListener("pointerleave", () => { $("values").textContent = ""; });
}

function draw(pane, from, now) {
  const name = state.draw === "line" ? "line" : "region";
  state[name] = drawnText(state.draw, infoOf(active()), from, pane.place(...now));
  $(name).value = state[name];
  scene.redraw();
}

function pinch(pane, held, id, now) {
  const [other] = [...held].filter(([key]) => key !== id).map(([, place]) => place), before = held.get(id);
  const apart = (a) => Math.max(1, Math.hypot(a[0] - other[0], a[1] - other[1]));
  zoomBy(apart(before) / apart(now), ...pane.place(...other));
}

function hover(pane, [px, py]) {
  const view = views()[scene.panes.indexOf(pane)]?.[0], info = view && infoOf(view), found = info && pane.valueAt(px, py);
  if (!found) { $("values").textContent = view && isSolid(view) ? `turned ${Math.round(state.turn)}°, tilted ${Math.round(state.tilt)}°` : ""; return; }
  const [a, b] = ACROSS[state.axis], {size, name} = lengthUnit(info, domainOf(info, state.axis).side);
  const unit = unitText(pane.tiles().there[0]?.facts.unit ?? ""), values = found.values.map((value) => short(value, 6));
  const what = state.mode === "difference" ? `A ${values[0]}, B ${values[1]}, B − A ${short(found.values[1] - found.values[0], 6)}` : `${view.field} = ${values[0]}`;
  $("values").textContent = `${what} ${unit}   ${"xyz"[a]} = ${short(found.x / size, 6)}, ${"xyz"[b]} = ${short(found.y / size, 6)} ${name}` + (Number.isFinite(found.level) ? `   level ${found.level}` : "");
}

// Turns the camera of a volume; false of flat pictures.
export function lookAlong(axis) {
  if (!solid()) return false;
  [state.turn, state.tilt] = ANGLES[axis];
  turnBy(0, 0);
  return true;
}

// `choose` is as in main.js, `fit` shows all of the domain.
export function listenToKeys(choose, fit) {
  const arrow = (event, x, y) => solid() && !event.shiftKey ? turnBy(50 * x, -50 * y) : moveBy(x, y);
  const step = (by) => { active().step = within(active().step + by, 0, scene.steps.length - 1); scene.changed(); };
  const plane = (by) => { state.at = site() ? nextPlane(active(), by) : within(state.at + by, 0, 1); scene.changed(); };
  const flip = (name) => { state[name] = !state[name]; scene.changed(); };
  const drawing = (kind) => site() ? null : choose("draw", state.draw === kind ? "" : kind);
  const none = () => {
    state.region = state.line = state.draw = "";
    for (const name of ["region", "line"]) $(name).value = "";
    scene.changed();
  };
  const does = {
    ArrowLeft: (event) => arrow(event, -0.1, 0), ArrowRight: (event) => arrow(event, 0.1, 0),
    ArrowUp: (event) => arrow(event, 0, 0.1), ArrowDown: (event) => arrow(event, 0, -0.1),
    "+": () => zoomBy(0.7), "=": () => zoomBy(0.7), "-": () => zoomBy(1 / 0.7), 0: () => { fit(); scene.redraw(); },
    "[": () => plane(-0.01), "]": () => plane(0.01), ",": () => step(-1), ".": () => step(1),
    l: () => { active().scale = scene.scales[activePane()]?.log ? "linear" : "log"; scene.changed(); },
    m: () => flip("mesh"), p: () => flip("particles"), b: () => drawing("box"), s: () => drawing("sphere"), n: () => drawing("line"), Escape: none,
  };
  document.addEventListener("keydown", (event) => {
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && !["radio", "checkbox"].includes(event.target.type)) return;
    if (event.ctrlKey || event.metaKey || event.altKey || !infoOf(active())) return;
    const axis = ["x", "y", "z"].includes(event.key) && infoOf(active()).dim === 3;
    if (event.key.startsWith("Arrow") && event.target.type === "radio") return;
    if (!does[event.key] && !axis) return;
    event.preventDefault();
    if (axis) choose("axis", event.key); else does[event.key](event);
  });
}
