// A volume before a camera: which of its bricks are shown, and the picture of them.

import {fraction} from "./colours.js";
import {shapeOf} from "./regions.js";
import {deepest} from "./site.js";
import {lookOf, state} from "./state.js";
import {brickKey, difference, tile} from "./tiles.js";
import {EDGE, MOST_BRICKS, Volume} from "./volume.js";

const COARSE = 4;  // pixels of the screen along one of the picture, while it moves
const DEEPEST = 14; // beyond it numbers of the graphics card are too coarse
const VOXEL = 1.5; // bricks are split until a voxel is no wider than this many pixels

const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

// Directions in the domain: to the right and up in the picture, and towards the viewer.
export function camera() {
  const [a, b] = [state.turn, state.tilt].map((degrees) => degrees * Math.PI / 180), [ca, sa, cb, sb] = [Math.cos(a), Math.sin(a), Math.cos(b), Math.sin(b)];
  return {right: [-sa, ca, 0], up: [-sb * ca, -sb * sa, cb], towards: [cb * ca, cb * sa, sb]};
}

// The angles that look along an axis, with the other two to the right and up.
export const ANGLES = {x: [0, 0], y: [-90, 0], z: [-90, 90]};

export const sideOf = (info) => Math.max(...info.hi.map((hi, i) => hi - info.lo[i]));
const middleOf = (info) => [state.cx, state.cy, state.cz].map((at, i) => at ?? (info.lo[i] + info.hi[i]) / 2);

// Moves the middle of the picture by a part of it [code length].
export function shift(info, x, y) {
  const {right, up} = camera();
  [state.cx, state.cy, state.cz] = middleOf(info).map((at, i) => at + x * right[i] + y * up[i]);
}

// The bricks that show, with their keys (of a difference two each): coarse ones first, near the middle first, and below each one
// that has come, and is coarser than the screen, its children. At most as many as fit on the card.
export function bricksShown(info, views, {width, height, pixel}) {
  const side = sideOf(info), {right, up} = camera(), middle = middleOf(info), out = [];
  let ahead = [{place: [0, 0, 0]}];
  for (let zoom = 0; ahead.length && zoom <= (deepest(views[0]) ?? DEEPEST); ++zoom) {
    const edge = side / 2 ** zoom, radius = edge * Math.sqrt(3) / 2, next = [];
    for (const one of ahead) {
      const off = one.place.map((n, i) => info.lo[i] + (n + 0.5) * edge - middle[i]);
      one.x = Math.abs(dot(right, off)); one.y = Math.abs(dot(up, off));
    }
    const shown = ahead.filter(({x, y}) => x < width * pixel / 2 + radius && y < height * pixel / 2 + radius);
    for (const one of shown.sort((a, b) => Math.hypot(a.x, a.y) - Math.hypot(b.x, b.y))) {
      if (out.length >= MOST_BRICKS) return out;
      out.push({...one, zoom, keys: views.map((view) => brickKey(view.step, lookOf(view), zoom, ...one.place))});
      const there = out.at(-1).keys.map(tile);
      if (edge / EDGE <= VOXEL * pixel || there.some((found) => !found || found.failed) || !there.some(({facts}) => facts.finer)) continue;
      for (let k = 0; k < 8; ++k) {
        const place = one.place.map((n, i) => 2 * n + (k >> i & 1));
        if (place.every((n, i) => info.lo[i] + n * edge / 2 < info.hi[i] - 1e-9 * side)) next.push({place});
      }
    }
    ahead = next;
  }
  return out;
}

// The tree of the bricks that are there, as Volume draws it.
function treeOf(bricks) {
  const nodes = [], rows = new Map();
  for (const {zoom, place, keys} of bricks) {
    const found = keys.map(tile);
    if (found.some((one) => !one || one.failed)) continue;
    const one = found.length === 2 ? difference(...found) : found[0];
    if (one.failed) continue;
    rows.set(`${zoom} ${place}`, nodes.length);
    nodes.push({key: keys.join(), tile: one, children: new Array(8).fill(-1)});
    if (zoom) nodes[rows.get(`${zoom - 1} ${place.map((n) => n >> 1)}`)].children[place.reduce((sum, n, i) => sum + ((n & 1) << i), 0)] = nodes.length - 1;
  }
  return nodes;
}

// The value of a surface: as given, or the middle of the limits.
export function valueOf(scale) {
  const given = Number(state.value);
  if (state.value !== "" && Number.isFinite(given)) return given;
  return scale.log ? Math.sqrt(scale.low * scale.high) : (scale.low + scale.high) / 2;
}

// Draws what is there of the pane's bricks; with `moving` fast.
export function drawSolid(pane, info, view, scale, moving) {
  const {width, height, pixel} = pane.frame(), context = pane.canvas.getContext("2d"), nodes = treeOf(pane.bricks);
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, width, height);
  if (nodes.length) {
    if (!pane.volume || pane.volume.lost) pane.volume = new Volume();
    const side = sideOf(info), {right, up, towards} = camera(), by = moving ? COARSE : 1, inCube = (length) => length / side;
    const half = [width * pixel / 2, height * pixel / 2].map(inCube), light = [0, 1, 2].map((i) => 0.5 * up[i] - 0.4 * right[i] + 0.77 * towards[i]);
    const picture = pane.volume.draw(nodes, {
      width: Math.ceil(width / by), height: Math.ceil(height / by), mode: view.kind, scale, towards, light,
      middle: middleOf(info).map((at, i) => inCube(at - info.lo[i])), domain: info.hi.map((hi, i) => inCube(hi - info.lo[i])),
      right: right.map((x) => x * half[0]), up: up.map((x) => x * half[1]), density: 10 ** (4 * state.opacity - 0.25) / inCube(state.w),
      threshold: fraction(scale, valueOf(scale)), stride: moving ? 1 : 0.5,
    });
    context.imageSmoothingEnabled = moving;
    context.drawImage(picture, 0, 0, width, height);
  }
  wires(pane, info);
  pane.drawLength(context, info, {width, height, pixel});
}

// Where a place of the domain is on the canvas.
function onCanvas(pane, info) {
  const {width, height, pixel} = pane.frame(), {right, up} = camera(), middle = middleOf(info);
  return (place) => {
    const off = place.map((x, i) => x - middle[i]);
    return [width / 2 + dot(right, off) / pixel, height / 2 - dot(up, off) / pixel];
  };
}

// The edges of the domain, with the names of the axes, and the region.
function wires(pane, info) {
  const context = pane.canvas.getContext("2d"), at = onCanvas(pane, info), ratio = window.devicePixelRatio || 1;
  const box = ({lo, hi}) => {
    context.beginPath();
    for (let k = 0; k < 8; ++k) for (let a = 0; a < 3; ++a) if (!(k >> a & 1)) {
      const corner = (n) => [0, 1, 2].map((i) => (n >> i & 1 ? hi : lo)[i]);
      context.moveTo(...at(corner(k)));
      context.lineTo(...at(corner(k | 1 << a)));
    }
    context.stroke();
  };
  context.lineWidth = ratio;
  context.strokeStyle = "rgba(128, 128, 128, 0.55)";
  box(info);
  context.fillStyle = getComputedStyle(document.documentElement).getPropertyValue("--front").trim();
  context.font = `${12 * ratio}px system-ui, "DejaVu Sans", sans-serif`;
  [0, 1, 2].forEach((a) => context.fillText("xyz"[a], ...at(info.lo.map((lo, i) => i === a ? info.hi[i] + 0.03 * (info.hi[i] - lo) : lo))));
  const shape = shapeOf(state.region, info);
  if (!shape) return;
  context.strokeStyle = "#ffffff";
  context.lineWidth = 1.5 * ratio;
  if (shape.radius === undefined) return box(shape);
  context.beginPath();
  context.arc(...at(shape.centre), shape.radius / pane.frame().pixel, 0, 2 * Math.PI);
  context.stroke();
}
