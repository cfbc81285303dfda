import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadCatalogue } from "../../../src/catalogue/catalogue.ts";
import { v2PathOf } from "../../../src/model/request.ts";
import type { Operation, Resource } from "../../../src/model/resource.ts";
import { createRouter } from "../../../src/router/router.ts";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";

const VERSION = "v2beta1";
const catalogue = await loadCatalogue(VERSION);
const { resources, natives } = catalogue;
const route = createRouter({ resources, natives, version: VERSION, extraPrefixes: [] });
/** All that may ever leave as a translated request: canonical, below a collection, at most one verb, nothing unprintable in its query. */
const V2_TARGET =
  /^\/(?:iam|registry|vulnerabilities)\/v2beta1\/[A-Za-z]+(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._+-][A-Za-z0-9._:+-]*)*(?::[A-Za-z]+)?(?:\?[\x21\x22\x24-\x7e]*)?$/;

const segment = fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9._-]{0,11}$/);
/** A digest, or another name of one segment. */
const single = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._+:-]{0,11}$/);
const uid = fc.array(segment, { minLength: 1, maxLength: 8 }).map((segments) => segments.join("/"));

type Translated = Exclude<Operation, { kind: "native" }>;
interface Target {
  readonly resource: Resource;
  readonly operation: Translated;
}
const targets: readonly Target[] = resources.flatMap((resource) =>
  resource.operations.flatMap((operation) => (operation.kind === "native" ? [] : [{ resource, operation }])),
);
const METHODS = { list: "GET", get: "GET", create: "POST", update: "PUT", delete: "DELETE" } as const;

/** Templates of both versions, `{uid}` for what spans segments and `{segment}` for one. */
function templatesOf({ resource, operation }: Target): { method: string; v1: string; v2: string } {
  const { domain, v1, v2 } = resource;
  const home = { v1: `/${domain}/v1/`, v2: `/${domain}/${VERSION}/` };
  if ("path" in operation) {
    const own = operation.path.replace(/\{[^{}]*=\*\*\}/, "{uid}").replace(/\{[^{}]*=\*\}/, "{segment}");
    // Where several calls are made, the path is that of the collection.
    const there = operation.kind === "call" ? operation.v2.path : `${v2}${own.includes("{uid}") ? "/{uid}" : ""}`;
    return { method: operation.method, v1: home.v1 + own, v2: home.v2 + there };
  }
  const rest = operation.kind === "list" ? "" : "/{uid}";
  return { method: METHODS[operation.kind], v1: `${home.v1}${v1}${rest}`, v2: `${home.v2}${v2}${rest}` };
}

const fill = (template: string, { uid, segment }: { uid: string; segment: string }): string =>
  template.replace("{uid}", uid).replace("{segment}", segment);

/** What stands for the variables in `path`, which was made from `template`. */
function variablesIn(template: string, path: string): { uid: string; segment: string } {
  const pattern = template
    .replace(/[.*+?^$()|[\]\\]/g, "\\$&")
    .replace("{uid}", "(?<uid>.+)")
    .replace("{segment}", "(?<segment>[^/]+)");
  const groups = new RegExp(`^${pattern}$`).exec(path)?.groups ?? {};
  return { uid: groups["uid"] ?? "", segment: groups["segment"] ?? "" };
}

describe("paths", () => {
  it("T-SMG-34: the v2 path of every v1 path leads back to it, however its slashes were written", () => {
    let tried = 0;
    fc.assert(
      fc.property(fc.constantFrom(...targets), uid, single, fc.nat(255), (target, one, name, escapes) => {
        const { method, v1, v2 } = templatesOf(target);
        // A literal of another template, or a verb, in the place of a uid means something else.
        const given = { uid: one, segment: name };
        let at = 0;
        const escaped = one.replaceAll("/", () => ((escapes >> at++) & 1 ? "%2F" : "/"));
        const routed = route(method, fill(v1, { uid: escaped, segment: name }));
        fc.pre(routed.kind === "match" && routed.match.operation === target.operation);
        if (routed.kind !== "match") return;
        tried++;
        const there = v2PathOf(routed.match, VERSION);
        expect(there).toMatch(V2_TARGET);
        const back = variablesIn(v2, there);
        const known = {
          uid: v2.includes("{uid}") ? back.uid : one,
          segment: v2.includes("{segment}") ? back.segment : name,
        };
        expect(fill(v1, known)).toBe(fill(v1, given));
      }),
      { numRuns: scale(1_000, 100_000) },
    );
    figure("T-SMG-34", "v1 paths whose v2 path leads back to them", tried, "paths");
    expect(tried).toBeGreaterThan(scale(950, 95_000));
  });
});
