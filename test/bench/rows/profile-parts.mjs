/** Splits the time of a CPU profile by part of the program. */

/** The profiler, and who asked for it. */
const OWN = "the bench's own";
/** The first that fits names a function's part; `at` is the file that it stands in. */
const PARTS = [
  [OWN, /\/test\/bench\/|^node:inspector/],
  ["router", /\/src\/router\//],
  ["rewriter", /\/src\/json\//],
  ["translation", /\/src\/(translate|catalogue|rollout)\//],
  ["log", /\/src\/telemetry\/(batch|log|scrub)|node_modules\/(pino|sonic-boom)/],
  ["metrics", /\/src\/telemetry\/|node_modules\/prom-client/],
  ["server", /\/src\/server\//],
  ["lists", /\/src\/drain\//],
  ["upstream calls", /\/src\/upstream\//],
  ["the sentence (proxy, app)", /\/src\//],
  ["undici", /node_modules\/undici|^wasm:/],
  ["fastify", /node_modules\//],
  [
    "node: HTTP and sockets",
    /^node:(_http|http|net|_stream|stream|internal\/(streams|stream_base|http|net|js_stream))/,
  ],
  ["node: the rest", /^node:/],
];
/** Built-in functions that are hardly more than a system call. */
const WRITES = /^write(v|Buffer|Latin1String|Utf8String|AsciiString)$/;
const OUTSIDE = new Map([
  ["(garbage collector)", "garbage collection"],
  ["(program)", "native code outside functions: reading sockets, parsing HTTP"],
]);

/** Microseconds by part, the most first. Sleep and the bench's own are left out. Built-ins count where they were called from. */
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

/** Undefined: asleep, or the bench's own. */
function partOf(node, nodes, parents) {
  const { functionName } = node.callFrame;
  if (functionName === "(idle)") return undefined;
  if (node.callFrame.url === "" && WRITES.test(functionName)) return "writing to sockets";
  for (let at = node; at !== undefined; at = nodes.get(parents.get(at.id))) {
    const { url } = at.callFrame;
    if (url === "") continue;
    const name = PARTS.find(([, pattern]) => pattern.test(url))?.[0];
    return name === OWN ? undefined : name;
  }
  return OUTSIDE.get(functionName) ?? "node: the rest";
}
