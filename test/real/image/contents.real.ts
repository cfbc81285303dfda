import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BUILT, build, IMAGE, must, ROOT, tool } from "./podman.ts";

const BASE = "gcr.io/distroless/cc-debian12:nonroot";
let root = "";
let base = "";

beforeAll(async () => {
  await build();
  root = await must(["podman", "image", "mount", IMAGE]);
  base = await must(["podman", "image", "mount", BASE]);
});
afterAll(async () => {
  await tool(["podman", "image", "unmount", "-f", IMAGE]);
  await tool(["podman", "image", "unmount", "-f", BASE]);
});

function filesOf(folder: string, from = folder): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? filesOf(path, from) : [relative(from, path)];
  });
}

const mebibytes = (folder: string) =>
  filesOf(folder).reduce((sum, file) => sum + lstatSync(join(folder, file)).size, 0) / 1024 ** 2;

describe("the image", () => {
  it("is written as hadolint wants it", async () => {
    expect(await tool(["hadolint", "Dockerfile"])).toEqual({ code: 0, out: "", err: "" });
  });

  it("adds node and the application to its base, and nothing else", () => {
    const before = new Set(filesOf(base));
    const added = filesOf(root).filter((file) => !before.has(file) && !file.startsWith("app/"));
    expect(added).toEqual(["usr/local/bin/node"]);
    const all = filesOf(join(root, "app")).filter((file) => !file.startsWith("dist/"));
    expect(all.toSorted()).toEqual(["LICENSE", "package.json"]);
  });

  it("holds the program, the licences of what is in it and its bill of materials, and no source, map, declaration or package", () => {
    const files = filesOf(join(root, "app/dist"));
    const programs = files.filter((file) => /^(?:main|index|fastify\/plugin|chunks\/[\w-]+)\.js$/.test(file));
    const others = ["THIRD-PARTY-LICENSES.txt", "carryover.cdx.json"];
    expect(programs.length).toBeGreaterThan(10);
    expect(files.toSorted()).toEqual([...programs, ...others].toSorted());
  });

  it("has no shell, no package manager and no compiler", () => {
    const tools = /(?:^|\/)(?:sh|bash|dash|ash|busybox|npm|npx|corepack|yarn|apt|apt-get|dpkg|gcc|cc|perl|python3?)$/;
    expect(filesOf(root).filter((file) => tools.test(file) && !file.includes("/share/doc/"))).toEqual([]);
  });

  it("can be read by any user and written by none but root", () => {
    const wrong = filesOf(join(root, "app")).filter((file) => {
      const { mode, uid } = lstatSync(join(root, "app", file));
      return uid !== 0 || (mode & 0o022) !== 0 || (mode & 0o004) === 0;
    });
    expect(wrong).toEqual([]);
  });

  it("says what it is", async () => {
    const [{ Config }] = JSON.parse(await must(["podman", "image", "inspect", IMAGE]));
    const label = "org.opencontainers.image";
    expect(Config.Labels).toMatchObject({
      [`${label}.title`]: "carryover",
      [`${label}.description`]: JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).description,
      [`${label}.licenses`]: "Apache-2.0",
      [`${label}.version`]: BUILT.VERSION,
      [`${label}.revision`]: BUILT.REVISION,
      [`${label}.created`]: BUILT.CREATED,
      [`${label}.source`]: BUILT.SOURCE,
      [`${label}.base.name`]: BASE,
    });
    expect(Config).toMatchObject({
      User: "65532:65532",
      WorkingDir: "/app",
      Entrypoint: ["node", "--v8-pool-size=1", "/app/dist/main.js"],
      Cmd: ["serve"],
      StopSignal: "SIGTERM",
      ExposedPorts: { "8080/tcp": {}, "8081/tcp": {} },
    });
  });

  it("is small: what carryover adds is below 6 MiB", () => {
    const [app, node, whole] = [
      mebibytes(join(root, "app")),
      lstatSync(join(root, "usr/local/bin/node")).size,
      mebibytes(root),
    ];
    console.info(
      `carryover ${app.toFixed(2)} MiB, node ${Math.round(node / 1024 ** 2)} MiB, whole image ${Math.round(whole)} MiB`,
    );
    expect(app).toBeLessThan(6);
  });

  it("is the same, byte for byte, when it is built again from the same sources", async () => {
    const first = await build();
    const again = await build(`${IMAGE}-again`, ["--no-cache"]);
    expect(again, "or the cache has layers of another time: run podman image prune -a in it").toBe(first);
    await tool(["podman", "rmi", "-f", `${IMAGE}-again`]);
  }, 580_000);
});
