// The state of the page, as it stands in the address behind the #: a link, or a reload, shows the same again.

const VIEW = {step: 0, field: "", kind: "slice", weight: "", unit: "", scale: "", low: "", high: "", follow: true};
const SHARED = {
  mode: "one", side: 0, axis: "z", at: 0.5, where: "", level: "", x: null, y: null, w: null, colours: "", mesh: false,
  particles: false, species: "", draw: "", region: "", line: "", over: "radius", other: "",
  turn: -60, tilt: 25, cx: null, cy: null, cz: null, opacity: 0.5, value: "", ground: true,
};

export const state = {...SHARED, views: [{...VIEW}, {...VIEW}]};

const asText = (value) => value === true ? "1" : value === false ? "0" : String(value);

function readInto(target, defaults, words, suffix) {
  for (const [name, usual] of Object.entries(defaults)) {
    const text = words.get(name + suffix);
    if (text === null) { target[name] = usual; continue; }
    if (typeof usual === "boolean") target[name] = text === "1";
    else if (typeof usual === "number" || usual === null) target[name] = Number.isFinite(Number(text)) ? Number(text) : usual;
    else target[name] = text;
  }
}

export const within = (value, low, high) => Math.min(high, Math.max(low, value));

// Reads the address. Whatever is not in it, or is no value, is as at the start.
export function fromAddress(hash) {
  const words = new URLSearchParams(hash.replace(/^#/, ""));
  readInto(state, SHARED, words, "");
  state.views.forEach((view, i) => readInto(view, VIEW, words, i ? "2" : ""));
  const oneOf = (name, values) => { if (!values.includes(state[name])) state[name] = values[0]; };
  oneOf("mode", ["one", "two", "difference"]);
  oneOf("axis", ["z", "x", "y"]);
  oneOf("draw", ["", "box", "sphere", "line"]);
  state.side = state.side === 1 && state.mode !== "one" ? 1 : 0;
  for (const name of ["at", "opacity"]) state[name] = within(state[name], 0, 1);
  state.tilt = within(state.tilt, -90, 90);
  state.turn = ((state.turn + 180) % 360 + 360) % 360 - 180;
}

export function toAddress() {
  const words = new URLSearchParams();
  const put = (from, defaults, suffix) => {
    for (const [name, usual] of Object.entries(defaults)) if (from[name] !== usual) words.set(name + suffix, asText(from[name]));
  };
  put(state, SHARED, "");
  put(state.views[0], VIEW, "");
  if (state.mode !== "one") put(state.views[1], VIEW, "2");
  return "#" + words.toString();
}

// Kinds that a camera looks at: all other pictures lie flat.
export const isSolid = (view) => ["volume", "peak", "surface"].includes(view.kind);

// The words of a request about a view.
export function lookOf(view) {
  const look = isSolid(view) ? {field: view.field} : {field: view.field, kind: view.kind, axis: state.axis};
  if (view.kind === "slice") look.at = state.at;
  if (view.kind === "mean" && view.weight) look.weight = view.weight;
  for (const name of ["where", "level"]) if (state[name]) look[name] = state[name];
  if (view.unit) look.unit = view.unit;
  return look;
}
