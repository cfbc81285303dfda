import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";

/** It brings no types. */
interface Semver {
  gte(version: string, other: string): boolean;
  lt(version: unknown, other: string): boolean;
  minVersion(range: string): unknown;
  valid(version: unknown): string | null;
  major(version: string): number;
  satisfies(version: string, range: string): boolean;
}
const semver = createRequire(import.meta.url)("semver") as Semver;

const ROOT = resolve(import.meta.dirname, "../../..");
const json = <T>(path: string): T => JSON.parse(readFileSync(join(ROOT, path), "utf8")) as T;

/** Below these, holes are known that carryover would have: answers of one tenant for another, headers that clients take away, paths that escape. */
const LEAST: ReadonlyMap<string, string> = new Map([
  ["undici", "7.30.0"],
  ["fastify", "5.8.5"],
]);

/** Until when lines of Node get fixes, by the project's own schedule. */
const ENDS: ReadonlyMap<number, string> = new Map([
  [20, "2026-04-30"],
  [22, "2027-04-30"],
  [24, "2028-04-30"],
]);

interface Package {
  readonly version: string;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly engines?: { readonly node: string };
  readonly overrides?: Readonly<Record<string, string>>;
}
interface Locked extends Partial<Package> {
  readonly integrity?: string;
  readonly link?: boolean;
}
const own = json<Package>("package.json");
const locked = Object.entries(json<{ packages: Record<string, Locked> }>("package-lock.json").packages).filter(
  // Not the project itself and its workspace.
  ([path]) => !["", "sandbox", "node_modules/@carryover/sandbox"].includes(path),
);
/** Every copy of a package: one package may bring another version of it along. */
const copies = (name: string) => locked.filter(([path]) => path.endsWith(`node_modules/${name}`));

describe("T-SEC-02: the packages", () => {
  it.each([...LEAST])("%s is %s or newer, each copy that is locked and installed", (name, least) => {
    const found = copies(name);
    expect(found.length).toBeGreaterThan(0);
    const installed = found.map(([path]) => [path, json<Package>(`${path}/package.json`).version]);
    for (const [path, version] of [...found.map(([at, { version: is = "" }]) => [at, is]), ...installed]) {
      expect(semver.gte(version ?? "", least), `${path} is ${version}`).toBe(true);
    }
  });

  it("cannot be older anywhere: the ranges of package.json begin no lower", () => {
    const lower = [...LEAST].filter(([name, least]) => {
      const range = own.devDependencies?.[name];
      return range !== undefined && semver.lt(semver.minVersion(range) ?? "0.0.0", least);
    });
    expect(lower).toEqual([]);
  });

  it("are locked to exact versions with their digests, from a registry", () => {
    const loose = locked.filter(([, { version, integrity, link }]) => {
      return link === true || semver.valid(version) === null || !/^sha512-/.test(integrity ?? "");
    });
    expect(loose.map(([path]) => path)).toEqual([]);
  });

  it("run no scripts of their own when they are installed into the image", () => {
    const installs = readFileSync(join(ROOT, "Dockerfile"), "utf8").match(/npm ci[^\n]*/g) ?? [];
    expect(installs.length).toBeGreaterThan(0);
    expect(installs.filter((line) => !line.includes("--ignore-scripts"))).toEqual([]);
  });
});

describe("T-SEC-02: Node", () => {
  const image = /^ARG NODE_VERSION=(\S+)$/m.exec(readFileSync(join(ROOT, "Dockerfile"), "utf8"))?.[1] ?? "";

  it("of the image is one exact version of a line that still gets fixes", () => {
    expect(semver.valid(image)).toBe(image);
    const ends = ENDS.get(semver.major(image));
    expect(ends, `no end is known of Node ${semver.major(image)}: put it into this test`).toBeDefined();
    const today = new Date().toISOString().slice(0, 10);
    expect((ends ?? "") > today, `Node ${semver.major(image)} got its last fixes on ${ends}: raise NODE_VERSION`).toBe(
      true,
    );
  });

  it("of the image and of this run is one that package.json allows", () => {
    const allowed = own.engines?.node ?? "";
    expect([image, process.version].filter((version) => !semver.satisfies(version, allowed))).toEqual([]);
  });
});

describe("T-SEC-02: what builds and releases", () => {
  const folder = join(ROOT, ".github/workflows");
  const workflows = readdirSync(folder).map((name) => readFileSync(join(folder, name), "utf8"));

  it("uses actions by commit, never by a tag that somebody can move", () => {
    const used = workflows.flatMap((text) => [...text.matchAll(/uses: (\S+)/g)].map(([, action]) => action ?? ""));
    expect(used.length).toBeGreaterThan(3);
    expect(used.filter((action) => !action.startsWith("./") && !/@[0-9a-f]{40}$/.test(action))).toEqual([]);
  });

  it("has no more rights than to read, but where a release is made", () => {
    for (const text of workflows) expect(text).toMatch(/^permissions:\n {2}contents: read$/m);
  });
});
