// Regions and lines: as text, in the words of the command, and as shapes of a picture.

import {state} from "./state.js";

// The numbers of the axes to the right and up.
export const ACROSS = {x: [1, 2], y: [0, 2], z: [0, 1]};

// The domain across an axis.
export function domainOf(info, axis) {
  const [a, b] = ACROSS[axis], lo = [info.lo[a], info.lo[b]], hi = [info.hi[a], info.hi[b]];
  return {lo, hi, side: Math.max(hi[0] - lo[0], hi[1] - lo[1])};
}

const round = (x) => Number(x.toPrecision(6));

// The region that a drag between two places [code length] chooses. A box on a slice is as deep as it is wide, around the plane; on a map it
// goes through the domain. A sphere has its centre, and a line its ends, on the plane, or in the middle.
export function drawnText(kind, info, from, to) {
  const [a, b] = ACROSS[state.axis], along = 3 - a - b, unit = info.hi[0] - info.lo[0], slice = state.views[state.side].kind === "slice";
  const deep = along < info.dim, stretch = deep ? (info.hi[along] - info.lo[along]) / unit : 0, plane = (slice ? state.at : 0.5) * stretch;
  const place = (value, axis) => (value - info.lo[axis]) / unit;
  const inside = (value, axis) => Math.min(Math.max(place(value, axis), 0), (info.hi[axis] - info.lo[axis]) / unit);
  const point = ([x, y], of) => {
    const out = [];
    out[a] = of(x, a); out[b] = of(y, b);
    if (deep) out[along] = plane;
    return out.slice(0, info.dim).map(round);
  };
  if (kind === "sphere") {
    const radius = Math.hypot(to[0] - from[0], to[1] - from[1]) / unit;
    return radius > 0 ? `sphere:${point(from, place)}:${round(radius)}` : "";
  }
  const ends = [point(from, inside), point(to, inside)];
  if (kind === "line") return String(ends[0]) === String(ends[1]) ? "" : `${ends[0]}:${ends[1]}`;
  const lo = ends[0].map((x, i) => Math.min(x, ends[1][i])), hi = ends[0].map((x, i) => Math.max(x, ends[1][i]));
  if (!(lo[a] < hi[a] && lo[b] < hi[b])) return "";
  if (deep) {
    const half = slice ? (hi[a] - lo[a]) / 2 : Infinity;
    lo[along] = round(Math.max(0, plane - half)); hi[along] = round(Math.min(stretch, plane + half));
  }
  return `box:${lo}:${hi}`;
}

const numbersOf = (word, info) => { const out = word.split(",").map(Number); return word && out.length === info.dim && out.every(Number.isFinite) ? out : null; };
const placeOf = (point, info) => point.map((x, i) => info.lo[i] + x * (info.hi[0] - info.lo[0]));

// A box or sphere of a region's text [code length], {lo, hi} or {centre, radius}; what is joined or has other shapes is null.
export function shapeOf(text, info) {
  const unit = info.hi[0] - info.lo[0], [kind, first, second, ...rest] = text.replace(/\s/g, "").split(":");
  if (rest.length || !first || !second) return null;
  const p = numbersOf(first === "center" ? info.lo.map((lo, i) => (info.hi[i] - lo) / unit / 2).join() : first, info);
  if (!p) return null;
  if (kind === "sphere") return Number(second) > 0 ? {centre: placeOf(p, info), radius: Number(second) * unit} : null;
  const q = kind === "box" ? numbersOf(second, info) : null;
  return q && {lo: placeOf(p, info), hi: placeOf(q, info)};
}

// The ends of a line's text [code length]; null: they are in other words.
export function endsOf(text, info) {
  const words = text.replace(/\s/g, "").split(":"), ends = words.map((word) => numbersOf(word, info));
  return ends.length === 2 && ends[0] && ends[1] ? ends.map((end) => placeOf(end, info)) : null;
}
