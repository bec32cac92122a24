// One picture on a canvas: tiles, mesh lines, particles and the drawn region, and where the pointer is.

import {painted, short, table, fraction, ticks, unitText} from "./colours.js";
import {drawGround} from "./ground.js";
import {ACROSS, domainOf, endsOf, shapeOf} from "./regions.js";
import {deepest} from "./site.js";
import {bricksShown} from "./solid.js";
import {isSolid, lookOf, state} from "./state.js";
import {difference, keyOf, tile} from "./tiles.js";

const PIXELS = 256; // along a tile

export const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

export class Pane {
  constructor(figure) {
    this.figure = figure;
    [this.canvas, this.bar] = figure.querySelectorAll("canvas");
    this.caption = figure.querySelector("figcaption");
    this.whole = null;   // the last picture without a gap, and its place
    this.overlay = null; // particles, or edges of triangles: {key, points}
  }

  size() {
    const box = this.canvas.getBoundingClientRect(), ratio = window.devicePixelRatio || 1;
    const width = Math.max(1, Math.round(box.width * ratio)), height = Math.max(1, Math.round(box.height * ratio));
    if (this.canvas.width !== width || this.canvas.height !== height) { this.canvas.width = width; this.canvas.height = height; }
    return {width, height, ratio};
  }

  // Code lengths a pixel of the canvas, and the corner at the left and top.
  frame() {
    const {width, height} = this.size(), pixel = state.w / width;
    return {width, height, pixel, left: state.x - state.w / 2, top: state.y + pixel * height / 2};
  }

  place(px, py) {
    const {pixel, left, top} = this.frame(), ratio = window.devicePixelRatio || 1;
    return [left + px * ratio * pixel, top - py * ratio * pixel];
  }

  // The part of the domain that shows [code length]; null: none.
  window(info) {
    const {lo, hi} = domainOf(info, state.axis), {width, height, pixel, left, top} = this.frame();
    const x0 = Math.max(left, lo[0]), x1 = Math.min(left + width * pixel, hi[0]);
    const y0 = Math.max(top - height * pixel, lo[1]), y1 = Math.min(top, hi[1]);
    return x0 < x1 && y0 < y1 ? {x0, x1, y0, y1} : null;
  }

  // The squares that show, nearest to the middle first.
  squares(info, view) {
    const seen = this.window(info);
    if (!seen) return [];
    const {lo, hi, side} = domainOf(info, state.axis), {pixel} = this.frame();
    const zoom = Math.min(deepest(view) ?? 40, Math.max(0, Math.ceil(Math.log2(side / (PIXELS * pixel)) - 0.45)));
    const edge = side / 2 ** zoom, out = [];
    const most = (i) => Math.ceil((hi[i] - lo[i]) / edge - 1e-9) - 1;
    const cut = (value, i) => Math.min(most(i), Math.max(0, Math.floor(value)));
    for (let row = cut((seen.y0 - lo[1]) / edge, 1); row <= cut((seen.y1 - lo[1]) / edge, 1); ++row)
      for (let column = cut((seen.x0 - lo[0]) / edge, 0); column <= cut((seen.x1 - lo[0]) / edge, 0); ++column) {
        const x = lo[0] + (column + 0.5) * edge, y = lo[1] + (row + 0.5) * edge;
        out.push({zoom, column, row, far: Math.hypot(x - state.x, y - state.y)});
      }
    return out.sort((a, b) => a.far - b.far);
  }

  // The tiles to show, by their keys: of a difference two each. `views` are those whose values this pane shows.
  keys(info, views) {
    this.levels = [];
    this.bricks = isSolid(views[0]) ? bricksShown(info, views, this.frame()) : null;
    if (this.bricks) {
      this.shown = this.bricks.map(({keys}) => keys);
      return this.shown.flat();
    }
    const squares = this.squares(info, views[0]);
    this.shown = squares.map(({zoom, column, row}) => views.map((view) => keyOf(view.step, lookOf(view), zoom, column, row)));
    if (state.mesh && !info.triangles) this.levels = squares.map(({zoom, column, row}) => keyOf(views[0].step, levelLook(info), zoom, column, row));
    return [...this.shown.flat(), ...this.levels];
  }

  // The tiles that are there, and whether all are.
  tiles() {
    const there = [];
    let all = true, failed = "";
    for (const keys of this.shown) {
      const found = keys.map(tile);
      if (found.some((one) => !one)) { all = false; continue; }
      const one = found.length === 2 ? difference(found[0], found[1]) : found[0];
      if (one.failed) failed = one.failed; else there.push(one);
    }
    return {there, all, failed};
  }

  extremes(there) {
    const out = {low: null, high: null, positive: null};
    const least = (a, b) => a === null ? b : b === null ? a : Math.min(a, b);
    for (const {facts} of there) {
      out.low = least(out.low, facts.low);
      out.positive = least(out.positive, facts.positive);
      out.high = out.high === null ? facts.high : facts.high === null ? out.high : Math.max(out.high, facts.high);
    }
    return out;
  }

  // Returns what went wrong with the map below, if there is one.
  draw(info, scale, found) {
    const {width, height, pixel, left, top} = this.frame(), context = this.canvas.getContext("2d");
    const across = (extent) => [(extent[0] - left) / pixel, (top - extent[3]) / pixel, (extent[1] - extent[0]) / pixel, (extent[3] - extent[2]) / pixel];
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, width, height);
    const below = drawGround(this, info), onMap = below !== null;
    context.imageSmoothingEnabled = false;
    context.globalAlpha = onMap ? 0.75 : 1;
    if (!found.all && !onMap && this.whole?.axis === state.axis) context.drawImage(this.whole.canvas, ...across(this.whole.extent));
    const key = JSON.stringify(scale);
    for (const one of found.there) {
      if (!one.painted.has(key)) { one.painted.clear(); one.painted.set(key, painted(one, scale)); }
      const [x, y, w, h] = across(one.facts.extent);
      // Whole pixels: no seams between tiles.
      const x0 = Math.round(x), y0 = Math.round(y), x1 = Math.round(x + w), y1 = Math.round(y + h);
      if (one.facts.damaged?.length) hatch(context, x0, y0, x1 - x0, y1 - y0);
      else if (!found.all && !onMap) context.clearRect(x0, y0, x1 - x0, y1 - y0);
      context.drawImage(one.painted.get(key), x0, y0, x1 - x0, y1 - y0);
    }
    context.globalAlpha = 1;
    if (found.all) this.remember({width, height, pixel, left, top});
    this.drawLevels(context, info, across);
    this.drawOverlay(context, info, across);
    this.outline(context, info, across);
    this.drawRegion(context, info);
    this.drawLength(context, info, {width, height, pixel});
    return below ?? "";
  }

  remember({width, height, pixel, left, top}) {
    const canvas = this.whole?.canvas ?? new OffscreenCanvas(width, height);
    canvas.width = width; canvas.height = height;
    canvas.getContext("2d").drawImage(this.canvas, 0, 0);
    this.whole = {canvas, axis: state.axis, extent: [left, left + width * pixel, top - height * pixel, top]};
  }

  drawLevels(context, info, across) {
    for (const key of this.levels) {
      const one = tile(key);
      if (!one || one.failed) continue;
      one.sides ??= cellSides(one, info);
      const [left, top, w, h] = across(one.facts.extent), x = (part) => Math.round(left + part * w) + 0.5, y = (part) => Math.round(top + (1 - part) * h) + 0.5;
      context.strokeStyle = "rgba(150, 150, 150, 0.75)";
      context.lineWidth = 1;
      context.beginPath();
      for (const [x0, y0, x1, y1] of one.sides) { context.moveTo(x(x0), y(y0)); context.lineTo(x(x1), y(y1)); }
      context.stroke();
    }
  }

  drawOverlay(context, info, across) {
    if (!this.overlay || this.overlay.axis !== state.axis) return;
    const {points, x0, y0, lines, facts} = this.overlay, ratio = window.devicePixelRatio || 1;
    const [left, top, w, h] = across([x0, x0 + facts.scale, y0, y0 + facts.scale]), bottom = top + h;
    context.fillStyle = "rgba(255, 255, 255, 0.85)";
    context.strokeStyle = "rgba(128, 128, 128, 0.6)";
    context.lineWidth = 1;
    context.beginPath();
    for (let i = 0; i < points.length; i += lines ? 4 : 2) {
      const x = left + points[i] * w, y = bottom - points[i + 1] * h;
      if (lines) { context.moveTo(x, y); context.lineTo(left + points[i + 2] * w, bottom - points[i + 3] * h); }
      else context.rect(x - 0.6 * ratio, y - 0.6 * ratio, 1.4 * ratio, 1.4 * ratio);
    }
    if (lines) context.stroke(); else context.fill();
  }

  outline(context, info, across) {
    const {lo, hi} = domainOf(info, state.axis), [x, y, w, h] = across([lo[0], hi[0], lo[1], hi[1]]);
    context.strokeStyle = css("--weak");
    context.lineWidth = 1;
    context.strokeRect(Math.round(x) - 0.5, Math.round(y) - 0.5, Math.round(w) + 1, Math.round(h) + 1);
  }

  // The region and the line, as far as they have a shape.
  drawRegion(context, info) {
    const shape = shapeOf(state.region, info), ends = endsOf(state.line, info), [a, b] = ACROSS[state.axis];
    if (!shape && !ends) return;
    const {pixel, left, top} = this.frame(), ratio = window.devicePixelRatio || 1;
    const at = (place) => [(place[a] - left) / pixel, (top - place[b]) / pixel];
    for (const [colour, width] of [["rgba(0, 0, 0, 0.6)", 3.5], ["#ffffff", 1.5]]) {
      context.strokeStyle = colour;
      context.lineWidth = width * ratio;
      context.beginPath();
      if (ends) { context.moveTo(...at(ends[0])); context.lineTo(...at(ends[1])); }
      if (shape?.centre) {
        const [x, y] = at(shape.centre);
        context.moveTo(x + shape.radius / pixel, y);
        context.arc(x, y, shape.radius / pixel, 0, 2 * Math.PI);
      } else if (shape) {
        const [x0, y1] = at(shape.lo), [x1, y0] = at(shape.hi);
        context.rect(x0, y0, x1 - x0, y1 - y0);
      }
      context.stroke();
    }
  }

  // A length to compare with, at the left and bottom.
  drawLength(context, info, {width, height, pixel}) {
    const ratio = window.devicePixelRatio || 1, {size, name} = lengthUnit(info, width * pixel * 0.25);
    const longest = width * pixel * 0.25 / size, power = 10 ** Math.floor(Math.log10(longest));
    const length = [5, 2, 1].map((m) => m * power).find((l) => l <= longest) ?? power, w = length * size / pixel;
    context.font = `${12 * ratio}px system-ui, "DejaVu Sans", sans-serif`;
    const text = `${short(length)} ${name}`, wide = Math.max(w, context.measureText(text).width) + 14 * ratio;
    context.fillStyle = css("--sheet");
    context.fillRect(8 * ratio, height - 38 * ratio, wide, 30 * ratio);
    context.fillStyle = css("--front");
    context.fillRect(15 * ratio, height - 15 * ratio, w, 2 * ratio);
    context.fillText(text, 15 * ratio, height - 21 * ratio);
  }

  // The value where the pointer is, as text; null outside.
  valueAt(px, py) {
    if (this.bricks) return null;
    const [x, y] = this.place(px, py), values = [];
    for (const keys of this.shown ?? []) for (const [i, key] of keys.entries()) {
      const value = pick(tile(key), x, y);
      if (value !== undefined) values[i] = value;
    }
    let level;
    for (const key of this.levels ?? []) level = pick(tile(key), x, y) ?? level;
    return values.length ? {x, y, values, level} : null;
  }

  drawBar(scale, label, unit) {
    const {bar} = this, ratio = window.devicePixelRatio || 1, box = bar.getBoundingClientRect();
    bar.width = Math.max(1, Math.round(box.width * ratio)); bar.height = Math.max(1, Math.round(box.height * ratio));
    drawBar(bar.getContext("2d"), bar.width, bar.height, ratio, scale, label, unit, css("--front"));
  }
}

export function drawBar(context, width, height, ratio, scale, label, unit, front) {
  const top = 10 * ratio, tall = height - 20 * ratio, left = 24 * ratio, wide = 14 * ratio, colours = table(scale.colours);
  for (let y = 0; y < tall; ++y) {
    const k = 3 * Math.round(255 * (1 - y / (tall - 1)));
    context.fillStyle = `rgb(${colours[k]}, ${colours[k + 1]}, ${colours[k + 2]})`;
    context.fillRect(left, top + y, wide, 1.5);
  }
  context.fillStyle = context.strokeStyle = front;
  context.font = `${11 * ratio}px system-ui, "DejaVu Sans", sans-serif`;
  context.textBaseline = "middle";
  for (const value of ticks(scale, Math.max(2, Math.floor(tall / (34 * ratio))))) {
    const y = top + (1 - fraction(scale, value)) * tall;
    context.fillRect(left + wide, y, 4 * ratio, ratio);
    context.fillText(short(value, 3), left + wide + 6 * ratio, y, width - left - wide - 6 * ratio);
  }
  context.save();
  context.translate(12 * ratio, top + tall / 2);
  context.rotate(-Math.PI / 2);
  context.textAlign = "center";
  context.fillText(`${label}   [${unitText(unit) || "no unit"}]`, 0, 0, tall);
  context.restore();
}

export function levelLook(info) {
  return lookOf({field: "level", kind: state.views[0].kind === "slice" || info.dim < 3 ? "slice" : "max", weight: "", unit: ""});
}

function pick(one, x, y) {
  if (!one || one.failed) return undefined;
  const [x0, x1, y0, y1] = one.facts.extent, [nx, ny] = one.facts.pixels;
  if (x < x0 || x >= x1 || y < y0 || y >= y1) return undefined;
  const i = Math.min(nx - 1, Math.floor((x - x0) / (x1 - x0) * nx)), j = Math.min(ny - 1, Math.floor((y - y0) / (y1 - y0) * ny));
  return one.values[j * nx + i] * one.facts.scale;
}

// Sides of cells, where cells are at least 5 pixels wide; elsewhere where the level changes: [x0, y0, x1, y1] in parts of the tile.
function cellSides(one, info) {
  const [nx, ny] = one.facts.pixels, [x0, x1, y0, y1] = one.facts.extent, {lo} = domainOf(info, state.axis), {values} = one, out = [];
  const edges = new Map(info.levels.map((row) => [row.level, row.edge]));
  // Where a side lies between two neighbours, from the middle of the first; undefined: they are in one cell, or there is none.
  const between = (a, b, from, step) => {
    const edge = Math.min(edges.get(a) ?? Infinity, edges.get(b) ?? Infinity), side = Math.floor((from + step) / edge + 1e-9) * edge;
    if (a === b && !(edge >= 5 * step && side > from + 1e-9 * edge)) return undefined;
    return Number.isFinite(edge) ? side : undefined;
  };
  // The sides across one axis: joined where they go on along the other.
  const across = (n, m, low, high, at, put) => {
    const step = (high - low) / n;
    for (let i = 0; i < n; ++i) for (let j = 0, begin = 0, last; j <= m; ++j) {
      const side = j < m ? between(at(Math.max(0, i - 1), j), at(i, j), low + (i - 0.5) * step, step) : undefined;
      if (side === last) continue;
      if (last !== undefined) put((last - low) / (high - low), begin / m, j / m);
      [begin, last] = [j, side];
    }
  };
  across(nx, ny, x0 - lo[0], x1 - lo[0], (i, j) => values[j * nx + i], (x, from, to) => out.push([x, from, x, to]));
  across(ny, nx, y0 - lo[1], y1 - lo[1], (j, i) => values[j * nx + i], (y, from, to) => out.push([from, y, to, y]));
  return out;
}

function hatch(context, x, y, w, h) {
  context.save();
  context.beginPath();
  context.rect(x, y, w, h);
  context.clip();
  context.clearRect(x, y, w, h);
  context.strokeStyle = css("--bad");
  context.lineWidth = 1.5;
  context.beginPath();
  for (let k = -h; k < w; k += 10) { context.moveTo(x + k, y + h); context.lineTo(x + k + h, y); }
  context.stroke();
  context.restore();
}

// The largest unit of length that is not longer than `size` [code length].
export function lengthUnit(info, size) {
  if (!info.lengths.length) return {size: 1, name: "code length"};
  const fitting = info.lengths.filter(([, length]) => length <= size), [name, length] = fitting.at(-1) ?? info.lengths[0];
  return {size: length, name};
}
