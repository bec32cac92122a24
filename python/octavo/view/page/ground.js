// The map under triangles, from the tile server that the user named.

import {scene} from "./scene.js";
import {state} from "./state.js";
import {ask} from "./tiles.js";

const KEPT = 200; // images

let template = "";
const images = new Map(); // address -> image; the last used ones last

export function useGround(address) { template = address ?? ""; }
export const hasGround = (info) => template !== "" && info.triangles;
export const host = () => template.split("/")[2];

// Asks which squares lie under the pane's window, once it stands still.
export async function findGround(pane, step) {
  const {width, height, pixel, left, top} = pane.frame();
  const words = {x0: left, x1: left + width * pixel, y0: top - height * pixel, y1: top, pixels: Math.min(2048, Math.max(width, height))};
  const key = JSON.stringify(words);
  if (pane.ground?.key === key) return;
  pane.ground = {key, squares: (await (await ask(`step/${step}/ground`, words)).json()).squares};
  scene.redraw();
}

function imageOf({z, x, y}) {
  const address = template.replace("{z}", z).replace("{x}", x).replace("{y}", y);
  let image = images.get(address);
  if (!image) {
    image = new Image();
    image.crossOrigin = "anonymous"; // so that the picture can be saved
    image.onload = () => scene.redraw();
    image.onerror = () => { image.failed = true; scene.redraw(); };
    image.src = address;
  }
  images.delete(address);
  images.set(address, image);
  for (const old of images.keys()) { if (images.size <= KEPT) break; images.delete(old); }
  return image;
}

// Draws the squares that have come. Returns why none has, "", or null where there is no map.
export function drawGround(pane, info) {
  if (!hasGround(info) || !state.ground || !pane.ground) return null;
  const {pixel, left, top} = pane.frame(), context = pane.canvas.getContext("2d");
  const at = ([x, y]) => [(x - left) / pixel, (top - y) / pixel];
  let failed = 0;
  for (const one of pane.ground.squares) {
    const image = imageOf(one);
    if (image.failed) ++failed;
    if (image.failed || !image.complete || !image.naturalWidth) continue;
    const [[x, y], right, down] = one.corners.map(at), n = image.naturalWidth, m = image.naturalHeight;
    context.setTransform((right[0] - x) / n, (right[1] - y) / n, (down[0] - x) / m, (down[1] - y) / m, x, y);
    context.drawImage(image, 0, 0);
  }
  context.setTransform(1, 0, 0, 1, 0, 0);
  return failed && failed === pane.ground.squares.length ? `${host()} gives no map here, or does not let pages read it` : "";
}
