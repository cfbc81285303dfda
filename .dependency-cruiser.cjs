/**
 * Who may import whom? Folders of `src` import downwards in this order, never upwards and never in a circle; some packages are for some
 * folders only. The sandbox stands alone. (`npx depcruise src sandbox/src`; test/architecture.test.ts runs it.)
 */
const ORDER = [
  ["fastify"],
  ["commands"],
  ["runtime"],
  ["admin"],
  ["page"],
  ["fleet", "replay"],
  ["shadow"],
  ["rollout"],
  ["grpc", "server"],
  ["edge"],
  ["history", "ledger", "recording", "telemetry", "translate"],
  ["state"],
  ["drain"],
  ["upstream"],
  ["catalogue", "router"],
  ["json"],
  ["config"],
  ["rules"],
  ["model"],
];
/**
 * Every package that `dist` is made of, and who may import it. They are devDependencies, since the build bundles them. The Fastify plugin uses
 * the app's own copies, which the package names as optional peers.
 */
const FENCES = {
  fastify: "admin|fastify",
  "@fastify/http-proxy": "fastify",
  undici: "upstream",
  "lru-cache": "upstream|drain",
  "prom-client": "telemetry",
  pino: "telemetry",
  "@redis/client": "state",
  hono: "page/(html|markdown)\\.ts",
  "d3-(scale|shape)": "page",
  "markdown-it": "page",
  zod: "config|commands/(exam|report)|history|ledger|rollout|rules|telemetry",
  "close-with-grace": "main\\.ts",
  commander: "cli\\.ts|commands",
  croner: "rules",
  yaml: "config",
  "@bufbuild/protobuf": "grpc",
};
const inside = (folders) => `^src/(${folders.join("|")})/`;

module.exports = {
  forbidden: [
    { name: "no-circle", severity: "error", from: {}, to: { circular: true } },
    ...ORDER.slice(1).map((folders, i) => ({
      name: `upwards-from-${folders[0]}`,
      severity: "error",
      from: { path: inside(folders) },
      to: { path: inside(ORDER.slice(0, i + 1).flat()) },
    })),
    ...[
      ["grpc", "server"],
      ["server", "grpc"],
    ].map(([from, to]) => ({
      name: `${from}-is-no-part-of-${to}`,
      severity: "error",
      from: { path: inside([from]) },
      to: { path: inside([to]) },
    })),
    {
      name: "sandbox-imports-only-itself-and-node",
      severity: "error",
      from: { path: "^sandbox/src/" },
      to: { pathNot: "^(sandbox/src/|node_modules/@bufbuild/protobuf/)", dependencyTypesNot: ["core"] },
    },
    {
      name: "only-the-demo-starts-a-sandbox",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/(cli|commands/demo/(stage|cutover))\\.ts" },
      to: { path: "^(sandbox/|dist/|#sandbox)" },
    },
    {
      name: "translation-is-handed-the-catalogue",
      severity: "error",
      from: { path: "^src/(translate|router)/" },
      to: { path: "^src/catalogue" },
    },
    ...Object.entries(FENCES).map(([name, where]) => ({
      name: `${name}-belongs-elsewhere`,
      severity: "error",
      from: { path: "^src/", pathNot: `^src/(${where})` },
      to: { path: `node_modules/${name}/` },
    })),
    {
      name: "undeclared-package",
      severity: "error",
      from: { path: "^src/" },
      to: {
        dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown", "npm-optional"],
        pathNot: `node_modules/(${Object.keys(FENCES).join("|")})/`,
      },
    },
    {
      name: "pure-code-does-no-io",
      severity: "error",
      from: { path: "^src/(model|json|catalogue|router|translate)/", pathNot: "^src/catalogue/" },
      to: { path: "^(node:)?(fs|net|http|https|crypto|timers)$" },
    },
  ],
  options: {
    parser: "swc",
    tsPreCompilationDeps: true,
    doNotFollow: { path: "node_modules" },
    enhancedResolveOptions: {
      extensions: [".ts", ".js"],
      exportsFields: ["exports"],
      conditionNames: ["carryover-source", "import", "node"],
    },
  },
};
