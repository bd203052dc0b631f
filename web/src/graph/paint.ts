// Draws a graph on a canvas of two dimensions: no WebGL, which many machines have only in software.
import type { GraphEdge, GraphNode } from '../types';

/** Where the picture is looked at: a place p of the graph is drawn at `x + p.x * zoom`. */
export interface Camera {
  x: number;
  y: number;
  zoom: number;
}

/** A graph by numbers, ready to draw. */
export interface Scene {
  nodes: readonly GraphNode[];
  edges: readonly (readonly [number, number, GraphEdge])[];
  /** Numbers of nodes by how many edges they have, the most first: who gets a label. */
  order: readonly number[];
  labels: readonly string[];
  /** The look of each node by its type, and its radius. */
  looks: readonly number[];
  radii: readonly number[];
  chosen: number;
  centre: number;
}

export type Context = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

export interface Colours {
  background: string;
  text: string;
  quiet: string;
  edge: string;
  accent: string;
  types: readonly string[];
}

/** Kinds of colour and shape for types of entities; types share them where there are more. */
export const LOOKS = 8;
const MOST_LABELS = 70;
const LETTER = 6.6;
/** Lines of relations that were inferred, and of those that were stated. */
const DASHES = [5, 4];
const WHOLE: number[] = [];
const LABEL = '12px system-ui, "DejaVu Sans", sans-serif';

/** Return which look a type has: by its letters, so that it is the same in every graph. */
export function lookOf(type: string): number {
  let sum = 7;
  for (const letter of type) sum = (sum * 31 + letter.codePointAt(0)!) % 9973;
  return sum % LOOKS;
}

/** Return the radius of a node by the number of its drawn edges. */
export const radiusOf = (degree: number): number => Math.min(16, 5 + Math.sqrt(degree));

export function paint(canvas: Context, width: number, height: number, scene: Scene, places: Float32Array, camera: Camera, colours: Colours): void {
  const x = (node: number): number => camera.x + places[2 * node]! * camera.zoom;
  const y = (node: number): number => camera.y + places[2 * node + 1]! * camera.zoom;
  const isSeen = (node: number): boolean => x(node) > -20 && y(node) > -20 && x(node) < width + 20 && y(node) < height + 20;
  canvas.fillStyle = colours.background;
  canvas.fillRect(0, 0, width, height);
  paintEdges(canvas, scene, x, y, colours);
  const { looks } = scene;
  for (let node = 0; node < scene.nodes.length; node += 1) {
    if (!isSeen(node)) continue;
    canvas.fillStyle = colours.types[looks[node]!]!;
    canvas.beginPath();
    outline(canvas, looks[node]! % 4, x(node), y(node), scene.radii[node]!);
    canvas.fill();
    if (node !== scene.chosen && node !== scene.centre) continue;
    canvas.strokeStyle = node === scene.chosen ? colours.accent : colours.text;
    canvas.lineWidth = node === scene.chosen ? 4 : 2;
    canvas.stroke();
  }
  paintLabels(canvas, scene, x, y, isSeen, colours);
}

type At = (node: number) => number;

function paintEdges(canvas: Context, scene: Scene, x: At, y: At, colours: Colours): void {
  const strong: (readonly [number, number, GraphEdge])[] = [];
  canvas.lineWidth = 1;
  canvas.strokeStyle = colours.edge;
  for (const edge of scene.edges) {
    const [from, to, row] = edge;
    if (from === scene.chosen || to === scene.chosen) {
      strong.push(edge);
      continue;
    }
    // A stroke for each: one path of all lines stalls the browser when it is zoomed.
    if (row.inferred) canvas.setLineDash(DASHES);
    canvas.beginPath();
    canvas.moveTo(x(from), y(from));
    canvas.lineTo(x(to), y(to));
    canvas.stroke();
    if (row.inferred) canvas.setLineDash(WHOLE);
  }
  canvas.lineWidth = 2;
  canvas.strokeStyle = colours.accent;
  canvas.fillStyle = colours.accent;
  for (const [from, to, row] of strong) {
    canvas.setLineDash(row.inferred ? DASHES : WHOLE);
    canvas.beginPath();
    canvas.moveTo(x(from), y(from));
    canvas.lineTo(x(to), y(to));
    canvas.stroke();
    arrow(canvas, x(from), y(from), x(to), y(to), scene.radii[to]!);
  }
  canvas.setLineDash(WHOLE);
}

/** Draw the head of an arrow that ends at the rim of a node. */
function arrow(canvas: Context, fromX: number, fromY: number, toX: number, toY: number, radius: number): void {
  const length = Math.hypot(toX - fromX, toY - fromY) || 1;
  const [alongX, alongY] = [(toX - fromX) / length, (toY - fromY) / length];
  const [tipX, tipY] = [toX - alongX * (radius + 2), toY - alongY * (radius + 2)];
  canvas.beginPath();
  canvas.moveTo(tipX, tipY);
  canvas.lineTo(tipX - 9 * alongX - 4 * alongY, tipY - 9 * alongY + 4 * alongX);
  canvas.lineTo(tipX - 9 * alongX + 4 * alongY, tipY - 9 * alongY - 4 * alongX);
  canvas.fill();
}

/** Types differ by shape too, for those who do not tell the colours apart. */
function outline(canvas: Context, shape: number, x: number, y: number, radius: number): void {
  if (shape === 0) canvas.arc(x, y, radius, 0, 2 * Math.PI);
  else if (shape === 1) canvas.rect(x - radius * 0.88, y - radius * 0.88, radius * 1.76, radius * 1.76);
  else {
    const [points, turn] = shape === 2 ? [4, 0] : [3, -Math.PI / 2];
    for (let point = 0; point < points; point += 1) {
      const angle = turn + (2 * Math.PI * point) / points;
      const [alongX, alongY] = [x + 1.15 * radius * Math.cos(angle), y + 1.15 * radius * Math.sin(angle)];
      if (point) canvas.lineTo(alongX, alongY);
      else canvas.moveTo(alongX, alongY);
    }
    canvas.closePath();
  }
}

/** Write names where they do not cover each other: first the chosen node's, then those with the most edges. */
function paintLabels(canvas: Context, scene: Scene, x: At, y: At, isSeen: (node: number) => boolean, colours: Colours): void {
  canvas.font = LABEL;
  const taken: (readonly [number, number, number, number])[] = [];
  for (const node of [scene.chosen, scene.centre, ...scene.order]) {
    if (node < 0 || !isSeen(node)) continue;
    const [left, base, wide] = [x(node) + scene.radii[node]! + 3, y(node) + 4, scene.labels[node]!.length * LETTER];
    if (taken.some(([, l, b, w]) => left < l + w && l < left + wide && Math.abs(base - b) < 14)) continue;
    taken.push([node, left, base, wide]);
    if (taken.length === MOST_LABELS) break;
  }
  // A ground under each name keeps it readable over edges; outlined letters cost twice as much.
  canvas.globalAlpha = 0.7;
  canvas.fillStyle = colours.background;
  for (const [, left, base, wide] of taken) canvas.fillRect(left - 1, base - 11, wide, 14);
  canvas.globalAlpha = 1;
  canvas.fillStyle = colours.text;
  for (const [node, left, base] of taken) canvas.fillText(scene.labels[node]!, left, base);
}

/** Return the camera that shows all nodes, enlarged a little at most. */
export function fitted(places: Float32Array, width: number, height: number): Camera {
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let index = 0; index < places.length; index += 2) {
    left = Math.min(left, places[index]!);
    right = Math.max(right, places[index]!);
    top = Math.min(top, places[index + 1]!);
    bottom = Math.max(bottom, places[index + 1]!);
  }
  if (!places.length) return { x: width / 2, y: height / 2, zoom: 1 };
  // Room for the labels, which stand to the right of the nodes.
  const zoom = Math.max(0.05, Math.min(1.8, (width - 140) / (right - left || 1), (height - 50) / (bottom - top || 1)));
  return { x: (width - 80) / 2 - (zoom * (left + right)) / 2, y: height / 2 - (zoom * (top + bottom)) / 2, zoom };
}

/** Return the camera after a zoom by a factor that leaves a place of the picture where it is. */
export function zoomed(camera: Camera, factor: number, x: number, y: number): Camera {
  const zoom = Math.min(8, Math.max(0.05, camera.zoom * factor));
  return { zoom, x: x - ((x - camera.x) * zoom) / camera.zoom, y: y - ((y - camera.y) * zoom) / camera.zoom };
}

/** Return the node under a place of the picture, or -1. */
export function nodeAt(places: Float32Array, camera: Camera, x: number, y: number): number {
  let [best, least] = [-1, 18 ** 2];
  for (let node = 0; 2 * node < places.length; node += 1) {
    const away = (camera.x + places[2 * node]! * camera.zoom - x) ** 2 + (camera.y + places[2 * node + 1]! * camera.zoom - y) ** 2;
    if (away < least) [best, least] = [node, away];
  }
  return best;
}

/** Return the neighbour of a node that lies in a direction, the nearer the better; -1 if none does. */
export function neighbourTowards(scene: Scene, places: Float32Array, from: number, right: number, down: number): number {
  let [best, score] = [-1, -Infinity];
  for (const [one, other] of scene.edges) {
    const next = one === from ? other : other === from ? one : -1;
    if (next < 0) continue;
    const [x, y] = [places[2 * next]! - places[2 * from]!, places[2 * next + 1]! - places[2 * from + 1]!];
    const far = Math.hypot(x, y) || 1;
    const along = (x * right + y * down) / far;
    if (along > 0.3 && along - far / 2000 > score) [best, score] = [next, along - far / 2000];
  }
  return best;
}
