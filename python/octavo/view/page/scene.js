// Shared by the parts of the page: the steps and their facts, the panes, and which views they show.

import {state} from "./state.js";

export const scene = {
  steps: [],
  infos: new Map(),     // step -> its facts
  panes: [],
  scales: [null, null], // as last drawn, by pane
  redraw() {},          // after a move
  changed() {},         // after any change of the state
};

export const $ = (id) => document.getElementById(id);
export const active = () => state.views[state.side];
export const infoOf = (view) => scene.infos.get(view.step);

// The views of each pane: two of a difference, B - A.
export const views = () => state.mode === "one" ? [[state.views[0]]] : state.mode === "two" ? [[state.views[0]], [state.views[1]]] : [state.views];

// The pane whose view the controls change.
export const activePane = () => state.mode === "two" ? state.side : 0;

export function say(text) {
  $("message").hidden = !text;
  $("message").textContent = text ?? "";
}

export async function guarded(job) {
  try { return await job(); } catch (error) {
    if (error.name === "AbortError") return undefined;
    say(error.message);
    document.body.dataset.state = "failed";
    return undefined;
  }
}
