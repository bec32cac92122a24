// Draws bricks of values as a volume: rays through a tree of bricks that lie side by side in one texture of the graphics card.

import {table} from "./colours.js";

export const EDGE = 32;            // voxels along a brick
const PLACES = [8, 8, 5];          // bricks along the axes of the texture
export const MOST_BRICKS = PLACES[0] * PLACES[1] * PLACES[2];
const LOWEST = -1000;              // stands for the logarithm of 0

const CORNERS = `#version 300 es
out vec2 at;
void main() {
  at = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0;
  gl_Position = vec4(at, 0.0, 1.0);
}`;

// Places are in units of the cube around the domain. The tree: a row of `nodes` has the rows of 8 children, or -1, and where the
// brick lies. A part of a node without a child is shown by the node's own brick.
const RAYS = `#version 300 es
precision highp float; precision highp int; precision highp sampler3D; precision highp isampler2D;
uniform sampler3D bricks;   // the value, and 1 where there is one
uniform isampler2D nodes;
uniform sampler2D colours;
uniform vec3 middle, right, up, towards, domain, light;
uniform vec2 scale;         // value * x + y is 0 to 1 between the limits
uniform float density, threshold, stride;
uniform int mode;           // 0: glowing fog, 1: largest value, 2: surface
in vec2 at;
out vec4 colour;

const float EDGE = ${EDGE}.0;
const ivec3 PLACES = ivec3(${PLACES});
vec3 low; float wide; vec3 corner;  // of the brick: its place and edge, and its corner in the texture

vec2 texels(vec3 p) { return texture(bricks, (corner + clamp((p - low) / wide * EDGE, 0.5, EDGE - 0.5)) / (vec3(PLACES) * EDGE)).rg; }
vec2 voxel(vec3 p) { return texelFetch(bricks, ivec3(corner + clamp(floor((p - low) / wide * EDGE), 0.0, EDGE - 1.0)), 0).rg; }
float shown(vec2 both) { return both.r / both.g * scale.x + scale.y; }

vec3 normal(vec3 p) {
  float h = wide / EDGE;
  vec3 slope;
  for (int a = 0; a < 3; ++a) {
    vec3 d = vec3(a == 0, a == 1, a == 2) * h;
    vec2 above = texels(p + d), below = texels(p - d);
    slope[a] = above.g > 0.0 && below.g > 0.0 ? shown(above) - shown(below) : 0.0;
  }
  return length(slope) > 0.0 ? -normalize(slope) : towards;
}

vec4 lit(vec3 p, vec3 n) {
  float strength = 0.25 + 0.6 * max(0.0, dot(n, light)) + 0.15 * max(0.0, dot(n, towards));
  return vec4(texture(colours, vec2(clamp(threshold, 0.0, 1.0), 0.5)).rgb * min(1.0, strength * 1.15), 1.0);
}

void main() {
  vec3 ray = -towards, start = middle + at.x * right + at.y * up + 4.0 * towards;
  ray = mix(ray, vec3(1e-7), lessThan(abs(ray), vec3(1e-7)));
  vec3 a = (vec3(0) - start) / ray, b = (domain - start) / ray, first = min(a, b), last = max(a, b);
  float t = max(max(first.x, first.y), first.z), end = min(min(last.x, last.y), last.z), enter = t;
  vec3 face = vec3(equal(first, vec3(t))) * -sign(ray);
  colour = vec4(0);
  if (!(t < end)) return;
  float most = -1e30, before = -1e30;
  vec4 sum = vec4(0);
  bool any = false;
  for (int turn = 0; turn < 4096 && t < end && sum.a < 0.99; ++turn) {
    vec3 p = start + (t + 1e-6) * ray, lo = vec3(0);
    float size = 1.0;
    int node = 0;
    low = vec3(0); wide = 1.0;
    for (int depth = 0; depth < 24; ++depth) {
      size *= 0.5;
      ivec3 octant = ivec3(step(lo + size, p));
      int child = texelFetch(nodes, ivec2(octant.x + 2 * octant.y + 4 * octant.z, node), 0).r;
      lo += vec3(octant) * size;
      if (child < 0) break;
      node = child; low = lo; wide = size;
    }
    int place = texelFetch(nodes, ivec2(8, node), 0).r;
    corner = vec3(place % PLACES.x, place / PLACES.x % PLACES.y, place / (PLACES.x * PLACES.y)) * EDGE;
    vec3 ends = (mix(lo, lo + size, step(0.0, ray)) - start) / ray;
    float leave = min(end, max(min(min(ends.x, ends.y), ends.z), t + 1e-6)), ahead = wide / EDGE * stride;
    while (t < leave) {
      float dt = min(ahead, leave - t);
      vec3 q = start + (t + 0.5 * dt) * ray;
      vec2 both = mode == 1 ? voxel(q) : texels(q);
      float value = both.g > 0.0 ? shown(both) : -1e30;
      if (mode == 1) { most = max(most, value); any = any || both.g > 0.0; }
      else if (mode == 2 && both.g > 0.5) {
        if (value >= threshold) {
          if (before < -1e29 && t <= enter + ahead) { sum = lit(q, face); break; }
          float back = before < -1e29 ? 0.0 : (value - threshold) / max(1e-20, value - before) * dt;
          vec3 hit = q - back * ray;
          sum = lit(hit, normal(hit));
          break;
        }
        before = value;
      } else if (mode == 2) before = -1e30;
      else if (both.g > 0.0) {
        float x = clamp(value, 0.0, 1.0), alpha = (1.0 - exp(-density * x * x * dt)) * both.g * (1.0 - sum.a);
        sum += vec4(texture(colours, vec2(x, 0.5)).rgb * alpha, alpha);
        if (sum.a > 0.99) break;
      }
      t += dt;
    }
    t = max(t, leave);
  }
  colour = mode != 1 ? sum : any ? vec4(texture(colours, vec2((clamp(most, 0.0, 1.0) * 255.0 + 0.5) / 256.0, 0.5)).rgb, 1.0) : vec4(0);
}`;

export class Volume {
  constructor() {
    this.canvas = new OffscreenCanvas(1, 1);
    const gl = this.gl = this.canvas.getContext("webgl2", {antialias: false, depth: false});
    if (!gl) throw new Error("this browser cannot show a volume: it lacks WebGL 2");
    this.canvas.addEventListener("webglcontextlost", () => { this.lost = true; });
    this.program = program(gl);
    this.places = new Map(); // key of a brick -> its place, and the tile that lies there; the last used ones last
    this.reference = "";
    gl.useProgram(this.program);
    this.texture(0, "bricks", gl.TEXTURE_3D, gl.LINEAR);
    gl.texStorage3D(gl.TEXTURE_3D, 1, gl.RG16F, ...PLACES.map((n) => n * EDGE));
    this.texture(1, "nodes", gl.TEXTURE_2D, gl.NEAREST);
    this.texture(2, "colours", gl.TEXTURE_2D, gl.LINEAR);
  }

  texture(unit, name, kind, filter) {
    const {gl} = this;
    gl.activeTexture(gl.TEXTURE0 + unit);
    gl.bindTexture(kind, gl.createTexture());
    for (const side of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(kind, side, filter);
    for (const wrap of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T, gl.TEXTURE_WRAP_R]) gl.texParameteri(kind, wrap, gl.CLAMP_TO_EDGE);
    gl.uniform1i(this.uniform(name), unit);
  }

  uniform(name) { return this.gl.getUniformLocation(this.program, name); }

  // Draws `nodes` ({key, tile, children: rows or -1}, the root first) into the canvas. `look`: width, height, mode, scale, middle, right,
  // up, towards, domain, density, threshold (0 to 1), stride.
  draw(nodes, look) {
    const {gl} = this, {log} = look.scale, root = nodes[0].tile.facts;
    this.canvas.width = look.width; this.canvas.height = look.height;
    gl.viewport(0, 0, look.width, look.height);
    const begin = log ? Math.log(root.positive ?? 1) : root.low ?? 0, stretch = ((log ? Math.log(root.high > 0 ? root.high : 1) : root.high ?? 1) - begin) || 1;
    const reference = JSON.stringify([log, begin, stretch]);
    if (reference !== this.reference) { this.places.clear(); this.reference = reference; }
    this.upload(nodes, (value) => log ? (value > 0 ? (Math.log(value) - begin) / stretch : LOWEST) : (value - begin) / stretch);
    const low = log ? Math.log(look.scale.low) : look.scale.low, high = log ? Math.log(look.scale.high) : look.scale.high;
    gl.uniform2f(this.uniform("scale"), stretch / (high - low), (begin - low) / (high - low));
    for (const name of ["middle", "right", "up", "towards", "domain", "light"]) gl.uniform3fv(this.uniform(name), look[name]);
    for (const name of ["density", "threshold", "stride"]) gl.uniform1f(this.uniform(name), look[name]);
    gl.uniform1i(this.uniform("mode"), ["volume", "peak", "surface"].indexOf(look.mode));
    gl.activeTexture(gl.TEXTURE2);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGB8, 256, 1, 0, gl.RGB, gl.UNSIGNED_BYTE, table(look.scale.colours));
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    return this.canvas;
  }

  upload(nodes, stored) {
    const {gl} = this, needed = new Set(nodes.map(({key}) => key)), rows = new Int32Array(9 * nodes.length);
    nodes.forEach(({key, tile, children}, row) => {
      rows.set(children, 9 * row);
      rows[9 * row + 8] = this.place(key, tile, stored, needed);
    });
    gl.activeTexture(gl.TEXTURE1);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.R32I, 9, nodes.length, 0, gl.RED_INTEGER, gl.INT, rows);
  }

  // Where the brick lies; it takes the place of the one that was not needed for longest.
  place(key, tile, stored, needed) {
    const there = this.places.get(key);
    let place = there?.place;
    if (there?.tile !== tile) {
      if (place === undefined) place = this.places.size;
      if (place >= MOST_BRICKS) {
        const old = [...this.places.keys()].find((one) => !needed.has(one));
        place = this.places.get(old).place;
        this.places.delete(old);
      }
      const at = [place % PLACES[0], Math.floor(place / PLACES[0]) % PLACES[1], Math.floor(place / (PLACES[0] * PLACES[1]))].map((n) => n * EDGE);
      const {gl} = this, texels = new Float32Array(2 * EDGE ** 3), unit = tile.facts.scale;
      tile.values.forEach((value, i) => {
        if (value !== value) return;
        texels[2 * i] = Math.max(LOWEST, Math.min(-LOWEST, stored(value * unit)));
        texels[2 * i + 1] = 1;
      });
      gl.activeTexture(gl.TEXTURE0);
      gl.texSubImage3D(gl.TEXTURE_3D, 0, ...at, EDGE, EDGE, EDGE, gl.RG, gl.FLOAT, texels);
    }
    this.places.delete(key);
    this.places.set(key, {place, tile});
    return place;
  }
}

function program(gl) {
  const made = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, CORNERS], [gl.FRAGMENT_SHADER, RAYS]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(`this browser cannot show a volume: ${gl.getShaderInfoLog(shader)}`);
    gl.attachShader(made, shader);
  }
  gl.linkProgram(made);
  if (!gl.getProgramParameter(made, gl.LINK_STATUS)) throw new Error(`this browser cannot show a volume: ${gl.getProgramInfoLog(made)}`);
  return made;
}
