/** Every file that is made from code or tables, and how. (`npm run docs` writes them; test/docs/generated.all.ts finds stale ones.) */
import { readFileSync } from "node:fs";
import { stringify } from "yaml";
import { filledIn } from "../../bench/replicas/page.mjs";
import { loadCatalogue } from "../../src/catalogue/catalogue.ts";
import { dashboardFile, performanceFile } from "../monitoring/dashboard.ts";
import { GOALS } from "../trust/goals.ts";
import { missedWords, type Result, trustPage, withRecorded } from "../trust/page.ts";
import { PROMISES } from "../trust/plan.ts";
import { withBlock } from "./blocks.ts";
import { readmeWith, readValues, valuesSchema } from "./chart.ts";
import { checkPage } from "./check.ts";
import { configurationPage, configurationSchemaFile, schemaText, usualOptions } from "./configuration.ts";
import { coveragePage, readmeLimits } from "./coverage.ts";
import { embeddedConfigFile } from "./embedded-config.ts";
import { errorsPage } from "./errors.ts";
import { explainPage } from "./explain.ts";
import { metricsPage } from "./metrics.ts";
import { openApi } from "./openapi.ts";
import { probesPage } from "./probes.ts";
import { reportPage } from "./report.ts";
import { rulesPage, rulesSchemaFile } from "./rules.ts";
import { benchWords, fastifySpeed, readmeSpeed, speedTable } from "./speed.ts";
import { statusPage } from "./status.ts";
import { trapsPage, v1BehaviourPage } from "./trap-pages.ts";

const ROOT = new URL("../../", import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, ROOT), "utf8");
const catalogue = () => loadCatalogue("v2beta1");
const recordedSpeed = () => JSON.parse(read("bench/recorded.json"));
const trustResult = (): Result => withRecorded(JSON.parse(read("test/trust/result.json")), recordedSpeed());
/** The results of the last runs. `whole`: with each missed goal and target. Addresses are relative to the page that shows them. */
const missed = (trust: string, results: string, whole: boolean): string =>
  [missedWords(GOALS, trustResult(), trust, whole), benchWords(recordedSpeed(), results, whole)].join("\n\n");
const values = () => readValues(read("helm/values.yaml"));

/** Schemas that the chart's schema contains: as they are made now, not as they are on the disk. */
const SCHEMAS: ReadonlyMap<string, () => string> = new Map([
  ["docs/config.schema.json", configurationSchemaFile],
  ["docs/rules.schema.json", rulesSchemaFile],
]);

/** By path from the root of the repository. */
export const GENERATED: ReadonlyMap<string, () => string | Promise<string>> = new Map<
  string,
  () => string | Promise<string>
>([
  ...SCHEMAS,
  [
    "README.md",
    async () => {
      const limits = withBlock(
        read("README.md"),
        "limits",
        readmeLimits(await catalogue(), missed("docs/trust.md", "bench/RESULTS.md", false)),
      );
      return withBlock(limits, "speed", readmeSpeed(recordedSpeed(), "bench/RESULTS.md"));
    },
  ],
  ["docs/check.md", () => checkPage(read("docs/check.md"))],
  ["docs/comparison.md", () => withBlock(read("docs/comparison.md"), "our measurements", speedTable(recordedSpeed()))],
  ["docs/configuration.md", configurationPage],
  ["docs/coverage.md", async () => coveragePage(await catalogue(), missed("trust.md", "../bench/RESULTS.md", true))],
  [
    "docs/embedding.md",
    () => withBlock(read("docs/embedding.md"), "speed through Fastify", fastifySpeed(recordedSpeed())),
  ],
  ["docs/errors.md", errorsPage],
  ["docs/explain.md", explainPage],
  ["docs/grpc-probes.md", probesPage],
  ["docs/metrics.md", metricsPage],
  [
    "docs/openapi.yaml",
    async () => stringify(openApi((await catalogue()).resources), { aliasDuplicateObjects: false, lineWidth: 120 }),
  ],
  ["docs/report.md", () => reportPage(read("docs/report.md"))],
  ["docs/rules.md", rulesPage],
  ["docs/scale.md", () => filledIn(read("docs/scale.md"), JSON.parse(read("bench/replicas.json")))],
  ["docs/status.md", () => statusPage(read("docs/status.md"))],
  ["docs/traps.md", trapsPage],
  ["docs/trust.md", () => trustPage(PROMISES, GOALS, trustResult())],
  ["docs/v1-behaviour.md", v1BehaviourPage],
  [
    "helm/README.md",
    () => withBlock(readmeWith(read("helm/README.md"), values()), "usual options", usualOptions().join("\n")),
  ],
  ["helm/files/dashboards/carryover-performance.json", performanceFile],
  ["helm/files/dashboards/carryover.json", dashboardFile],
  [
    "helm/values.schema.json",
    () => schemaText(valuesSchema(values(), (path) => JSON.parse(SCHEMAS.get(path)?.() ?? read(path)))),
  ],
  ["src/config/embedded-config.ts", embeddedConfigFile],
]);
