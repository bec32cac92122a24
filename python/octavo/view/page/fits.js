// Another step may be of another code: what of a view does not fit its data is chosen anew.

import {state} from "./state.js";

const namesOf = (info) => [...info.fields.map(({name}) => name), ...(info.triangles ? [] : ["level"])];

export const usualField = (info) => {
  const names = namesOf(info);
  return names.find((name) => /^(density|dens|rho)$/i.test(name)) ?? names.find((name) => /depth|hauteur/i.test(name)) ?? names[0];
};

const uses = (formula, name) => formula === name || (formula.match(/"[^"]*"|[A-Za-z_]\w*/g) ?? []).some((word) => word.replaceAll('"', "") === name);

// `before` are the facts of the step that the view showed until now.
export function mend(view, before, info) {
  const there = namesOf(info), lost = namesOf(before).filter((name) => !there.includes(name)), gone = (text) => lost.some((name) => uses(text, name));
  if (gone(view.field)) Object.assign(view, {field: usualField(info), unit: "", scale: "", low: "", high: "", follow: true});
  if (gone(view.weight)) view.weight = "";
  for (const name of ["where", "over", "other"]) if (gone(state[name])) state[name] = name === "over" ? "radius" : "";
  if (!info.particles.includes(state.species)) state.species = "";
  if (!info.levels.some(({level}) => String(level) === state.level)) state.level = "";
}

// Equal where two steps have one domain: a window of one shows the same of the other.
export const domainKey = ({dim, triangles, lo, hi}) => JSON.stringify([dim, triangles, lo, hi]);
