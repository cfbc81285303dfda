/**
 * Who may import whom? Folders of `src` import downwards in this order, never upwards and never in a circle; some packages are for some
 * folders only. The sandbox stands alone. (`npx depcruise src sandbox/src`; test/architecture.test.ts runs it.)
 */
const ORDER = [
  ["demo", "check", "report"],
  ["explain"],
  ["migration"],
  ["shadow"],
  ["control"],
  ["admin", "config", "ledger", "listener", "observe", "share", "upstream", "translate"],
  ["catalogue", "cutover", "route"],
  ["json"],
  ["model"],
];
/** A package, and who may import it. */
const FENCES = {
  fastify: "listener|admin|app\\.ts",
  "@fastify/http-proxy": "listener|admin|app\\.ts",
  undici: "upstream",
  "lru-cache": "upstream|share",
  "prom-client": "observe",
  pino: "observe",
  zod: "config",
  commander: "cli\\.ts",
  yaml: "config",
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
    {
      name: "sandbox-imports-only-itself-and-node",
      severity: "error",
      from: { path: "^sandbox/src/" },
      to: { pathNot: "^sandbox/src/", dependencyTypesNot: ["core"] },
    },
    {
      name: "only-the-demo-starts-a-sandbox",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/(cli\\.ts|demo)" },
      to: { path: "^(sandbox/|dist/|#sandbox)" },
    },
    {
      name: "translation-is-handed-the-catalogue",
      severity: "error",
      from: { path: "^src/(translate|route|cutover)/" },
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
      to: { dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown", "npm-optional"] },
    },
    {
      name: "pure-code-does-no-io",
      severity: "error",
      from: { path: "^src/(model|json|catalogue|route|translate|cutover)/", pathNot: "^src/catalogue/" },
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
