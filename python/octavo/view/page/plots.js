// A table, a profile or a phase diagram in the page's own colours.

import {fraction, painted, scaleOf, short, ticks, unitText} from "./colours.js";
import {css} from "./pane.js";

const LEFT = 66, RIGHT = 14, TOP = 10, BOTTOM = 40;

export function statistics(facts) {
  const {field} = facts, unit = field.unit ? ` ${unitText(field.unit)}` : "", place = (at) => at ? ` at ${at.map((x) => short(x)).join(", ")}` : "";
  const rows = [["cells", facts.leaves], ["volume", short(facts.volume)], ["smallest", short(field.min) + unit + place(field.min_at)],
    ["largest", short(field.max) + unit + place(field.max_at)], ["mean of cells", short(field.mean) + unit], ["mean by volume", short(field.volume_mean) + unit]];
  if (field.mass_mean !== null) rows.push(["mean by mass", short(field.mass_mean) + unit]);
  rows.push(["integral over the volume", short(field.integral)], ["sum", short(field.sum) + unit]);
  if (field.nan) rows.push(["not a number", field.nan]);
  const out = document.createElement("table");
  for (const words of rows) {
    const row = out.insertRow();
    for (const word of words) row.insertCell().textContent = word;
  }
  return out;
}

function scaleFor(values, log) {
  const finite = values.filter((value) => Number.isFinite(value) && (!log || value > 0));
  const low = Math.min(...finite), high = Math.max(...finite);
  if (!finite.length) return {low: 0, high: 1, log: false};
  if (low === high) return {low: low === 0 ? -1 : low - Math.abs(low) / 2, high: low === 0 ? 1 : low + Math.abs(low) / 2, log: false};
  return {low, high, log};
}

const wide = (values) => { const some = values.filter((v) => v > 0); return some.length === values.filter(Number.isFinite).length && Math.max(...some) > 100 * Math.min(...some); };
const named = (name, unit) => `${name}   [${unitText(unit) || "no unit"}]`;

function sheet(canvas, x, y, xName, yName) {
  const ratio = window.devicePixelRatio || 1, width = canvas.clientWidth || 480, height = canvas.clientHeight || 260;
  canvas.width = width * ratio; canvas.height = height * ratio;
  const context = canvas.getContext("2d"), across = width - LEFT - RIGHT, up = height - TOP - BOTTOM;
  context.scale(ratio, ratio);
  const px = (value) => LEFT + fraction(x, value) * across, py = (value) => TOP + (1 - fraction(y, value)) * up;
  context.strokeStyle = css("--line"); context.fillStyle = css("--front");
  context.font = '11px system-ui, "DejaVu Sans", sans-serif';
  context.textAlign = "center"; context.textBaseline = "top";
  for (const value of ticks(x, 5)) {
    context.strokeRect(px(value), TOP, 0, up);
    context.fillText(short(value, 3), px(value), TOP + up + 5);
  }
  context.fillText(xName, LEFT + across / 2, height - 15, across);
  context.textAlign = "right"; context.textBaseline = "middle";
  for (const value of ticks(y, 5)) {
    context.strokeRect(LEFT, py(value), across, 0);
    context.fillText(short(value, 3), LEFT - 5, py(value));
  }
  context.save();
  context.translate(9, TOP + up / 2);
  context.rotate(-Math.PI / 2);
  context.textAlign = "center";
  context.fillText(yName, 0, 0, up);
  context.restore();
  return {context, px, py, across, up};
}

const centres = (axis) => axis.edges.slice(1).map((high, i) => axis.log ? Math.sqrt(high * axis.edges[i]) : (high + axis.edges[i]) / 2);

export function profile(canvas, facts) {
  const [axis] = facts.axes, [[name, row]] = Object.entries(facts.fields), at = centres(axis);
  const mean = row.mean.map((value) => value ?? NaN), y = scaleFor([...row.min, ...row.max].map((v) => v ?? NaN), wide(mean));
  const x = {low: axis.edges[0], high: axis.edges.at(-1), log: axis.log};
  const {context, px, py} = sheet(canvas, x, y, named(axis.name, axis.unit), named(name, row.unit));
  const known = at.map((_, i) => i).filter((i) => Number.isFinite(mean[i]) && (!y.log || mean[i] > 0));
  const inside = (value) => py(Math.max(y.low, Math.min(y.high, value)));
  context.fillStyle = css("--accent"); context.globalAlpha = 0.25;
  context.beginPath();
  for (const i of known) context.lineTo(px(at[i]), inside(row.max[i]));
  for (const i of known.toReversed()) context.lineTo(px(at[i]), inside(row.min[i]));
  context.fill();
  context.globalAlpha = 1; context.strokeStyle = css("--accent"); context.lineWidth = 2;
  context.beginPath();
  for (const i of known) context.lineTo(px(at[i]), py(mean[i]));
  context.stroke();
}

export function phase(canvas, facts) {
  const [x, y] = facts.axes, rows = facts.cells.length, columns = facts.cells[0].length;
  const limits = (axis) => ({low: axis.edges[0], high: axis.edges.at(-1), log: axis.log});
  const values = Float64Array.from(facts.weights.flat(), (value, i) => facts.cells[Math.floor(i / columns)][i % columns] ? value ?? NaN : NaN);
  const finite = [...values].filter((value) => value > 0);
  const {context, across, up} = sheet(canvas, limits(x), limits(y), named(x.name, x.unit), named(y.name, y.unit));
  if (!finite.length) return;
  const scale = scaleOf({low: Math.min(...finite), high: Math.max(...finite), positive: Math.min(...finite)}, {scale: "", follow: true}, "");
  context.imageSmoothingEnabled = false;
  context.drawImage(painted({facts: {pixels: [columns, rows], scale: 1}, values}, scale), LEFT, TOP, across, up);
}

// Values along a line: cells as steps, points of triangles joined, a curve for each plane of prisms.
export function alongLine(canvas, facts, name) {
  const cells = Array.isArray(facts.at[0]), rows = cells ? [facts.values] : Array.isArray(facts.values[0]) ? facts.values : [facts.values];
  const number = (value) => value ?? NaN, all = rows.flat().map(number);
  const y = scaleFor(all, wide(all)), x = {low: 0, high: facts.length || 1, log: false};
  const {context, px, py} = sheet(canvas, x, y, "distance   [code length]", named(name, facts.unit));
  context.strokeStyle = css("--accent"); context.lineWidth = 1.5;
  for (const row of rows) {
    let last = NaN;
    context.beginPath();
    row.map(number).forEach((value, i) => {
      const [from, to] = cells ? facts.at[i] : [facts.at[i], facts.at[i]], known = Number.isFinite(value) && (!y.log || value > 0);
      if (known) {
        if (Number.isFinite(last)) context.lineTo(px(from), py(value)); else context.moveTo(px(from), py(value));
        context.lineTo(px(to), py(value));
      }
      last = known ? value : NaN;
    });
    context.stroke();
  }
}
