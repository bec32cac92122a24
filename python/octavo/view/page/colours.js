// Values to colours. Each map is given by colours at equal distances, linear between them, by matplotlib's names.

export const MAPS = {
  viridis: "440154 482475 414487 355f8d 2a788e 21918c 22a884 44bf70 7ad151 bddf26 fde725",
  magma: "000004 140e36 3b0f70 641a80 8c2981 b73779 de4968 f7705c fe9f6d fecf92 fcfdbf",
  inferno: "000004 160b39 420a68 6a176e 932667 bc3754 dd513a f37819 fca50a f6d746 fcffa4",
  plasma: "0d0887 41049d 6a00a8 8f0da4 b12a90 cc4778 e16462 f2844b fca636 fcce25 f0f921",
  cividis: "00224e 083370 35456c 4f576c 666970 7d7c78 948e77 aea371 c8b866 e5cf52 fee838",
  gray: "000000 ffffff",
  RdBu_r: "053061 2166ac 4393c3 92c5de d1e5f0 f7f7f7 fddbc7 f4a582 d6604d b2182b 67001f",
};

const tables = {};

// 256 colours, 3 bytes each.
export function table(name) {
  if (!tables[name]) {
    const stops = MAPS[name].split(" ").map((hex) => [0, 2, 4].map((i) => parseInt(hex.slice(i, i + 2), 16)));
    tables[name] = Uint8Array.from({length: 768}, (_, i) => {
      const place = Math.floor(i / 3) / 255 * (stops.length - 1), k = Math.min(Math.floor(place), stops.length - 2);
      return Math.round(stops[k][i % 3] + (place - k) * (stops[k + 1][i % 3] - stops[k][i % 3]));
    });
  }
  return tables[name];
}

// The scale and colours of values between two extremes, as `octavo map` chooses them: logarithmic where all is positive over
// more than a factor 100; symmetric around 0 where signs differ.
export function scaleOf(extremes, view, colours) {
  let {low, high, positive} = extremes;
  if (!view.follow && view.low !== "" && Number.isFinite(Number(view.low))) low = Number(view.low);
  if (!view.follow && view.high !== "" && Number.isFinite(Number(view.high))) high = Number(view.high);
  if (low === null || high === null || low === undefined) [low, high] = [0, 1];
  const signs = low < 0 && high > 0;
  let log = view.scale === "log" || (view.scale === "" && low > 0 && high / low > 100);
  if (log && low <= 0) {
    if (positive > 0 && positive < high) low = positive; else log = false;
  } else if (signs && view.follow) {
    high = Math.max(-low, high);
    low = -high;
  }
  if (!(high > low)) [low, high] = low === 0 ? [-1, 1] : log ? [low / 2, low * 2] : [low - Math.abs(low) / 2, low + Math.abs(low) / 2];
  return {low, high, log, colours: colours || (signs && !log ? "RdBu_r" : "viridis")};
}

// 0 to 1 between the limits.
export function fraction(scale, value) {
  return scale.log ? Math.log(value / scale.low) / Math.log(scale.high / scale.low) : (value - scale.low) / (scale.high - scale.low);
}

// Pixels of a tile as a canvas, its highest row first. No value: nothing is drawn.
export function painted(tile, scale) {
  const [nx, ny] = tile.facts.pixels, values = tile.values, unit = tile.facts.scale, colours = table(scale.colours);
  const canvas = new OffscreenCanvas(nx, ny), context = canvas.getContext("2d"), image = context.createImageData(nx, ny);
  const pixels = image.data, from = scale.log ? Math.log(scale.low) : scale.low;
  const factor = 255 / (scale.log ? Math.log(scale.high) - from : scale.high - from);
  for (let row = 0; row < ny; ++row) {
    let to = 4 * nx * (ny - 1 - row);
    for (let i = row * nx; i < (row + 1) * nx; ++i, to += 4) {
      const value = values[i] * unit;
      if (value !== value) continue;
      let k = ((scale.log ? (value > 0 ? Math.log(value) : -Infinity) : value) - from) * factor;
      k = 3 * (k <= 0 ? 0 : k >= 255 ? 255 : Math.round(k));
      pixels[to] = colours[k]; pixels[to + 1] = colours[k + 1]; pixels[to + 2] = colours[k + 2]; pixels[to + 3] = 255;
    }
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

export function short(value, digits = 4) {
  if (!Number.isFinite(value)) return "no value";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const text = size >= 1e5 || size < 1e-3 ? value.toExponential(digits - 1) : value.toPrecision(digits);
  return text.replace(/(\.\d*?)0+(e|$)/, "$1$2").replace(/\.(e|$)/, "$1").replace("e+", "e");
}

// Places of ticks: powers of ten, or round numbers, about `count` of them.
export function ticks(scale, count) {
  const {low, high, log} = scale, out = [];
  if (log && high / low >= 10) {
    const first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high) + 1e-9), every = Math.ceil((last - first + 1) / count);
    for (let k = first; k <= last; k += every) out.push(10 ** k);
    if (out.length > 1) return out;
    out.length = 0;
  }
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((m) => m * power >= rough);
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; ++k) out.push(k * step);
  return out;
}

// A unit as people write it: "code_mass/code_length**3" is "code mass / code length³".
export function unitText(unit) {
  const raised = (digits) => [...digits].map((sign) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[sign] ?? "⁻").join("");
  return unit.replace(/\s*\*\*\s*\(?(-?\d+)\)?/g, (_, power) => raised(power)).replace(/\s*\*\s*/g, " · ").replace(/\s*\/\s*/g, " / ").replaceAll("_", " ");
}
