/** Where did the time of a CPU profile go, by part of the program? */

/** The first that fits names a function's part; `at` is the file that it stands in. */
const PARTS = [
  ["router", /\/dist\/route\//],
  ["rewriter", /\/dist\/json\//],
  ["translation", /\/dist\/(translate|catalogue|cutover|share)\//],
  ["log", /\/dist\/observe\/(log|request-line|scrub)|node_modules\/(pino|sonic-boom)/],
  ["metrics", /\/dist\/observe\/|node_modules\/prom-client/],
  ["listener", /\/dist\/listener\//],
  ["lists", /\/dist\/upstream\/(drain|readers)\//],
  ["upstream calls", /\/dist\/upstream\//],
  ["the sentence (proxy, app)", /\/dist\//],
  ["undici", /node_modules\/undici|^wasm:/],
  ["fastify", /node_modules\//],
  [
    "node: HTTP and sockets",
    /^node:(_http|http|net|_stream|stream|internal\/(streams|stream_base|http|net|js_stream))/,
  ],
  ["node: the rest", /^node:/],
];
const OUTSIDE = new Map([
  ["(garbage collector)", "garbage collection"],
  ["(program)", "native code: sockets, parsing of HTTP, system calls"],
]);

/** Microseconds by part, the most first. What the process slept is left out. Built-ins count where they were called from. */
export function partsOf(profile) {
  const parents = new Map(profile.nodes.flatMap(({ id, children }) => (children ?? []).map((child) => [child, id])));
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const names = new Map(profile.nodes.map((node) => [node.id, partOf(node, nodes, parents)]));
  const sums = new Map();
  profile.samples.forEach((id, i) => {
    const name = names.get(id);
    if (name !== undefined) sums.set(name, (sums.get(name) ?? 0) + profile.timeDeltas[i]);
  });
  return [...sums].sort(([, a], [, b]) => b - a);
}

/** Undefined: asleep. */
function partOf(node, nodes, parents) {
  const { functionName } = node.callFrame;
  if (functionName === "(idle)") return undefined;
  for (let at = node; at !== undefined; at = nodes.get(parents.get(at.id))) {
    const { url } = at.callFrame;
    if (url !== "") return PARTS.find(([, pattern]) => pattern.test(url))?.[0] ?? "the bench's own";
  }
  return OUTSIDE.get(functionName) ?? "node: the rest";
}
