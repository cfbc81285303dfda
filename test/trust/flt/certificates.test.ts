import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TLSSocket } from "node:tls";
import { describe, expect, it } from "vitest";
import { loadCatalogue } from "../../../src/catalogue/catalogue.ts";
import { loadConfig } from "../../../src/config/config.ts";
import { createApp } from "../../../src/runtime/app.ts";
import { createLog } from "../../../src/telemetry/log.ts";
import { later, takeDownAfterEach } from "../../end-to-end/app/rig.ts";
import { LOCALHOST, OTHER_NAME, RENEWED } from "../../server/support/certificates.ts";
import { ask } from "../../server/support/client.ts";
import { createDouble, type Double, ok } from "../../server/support/double.ts";
import { figure } from "../../support/figures.ts";
import { scale } from "../../support/scale.ts";

takeDownAfterEach();

/** Files as Kubernetes mounts a Secret: links into a folder behind one link, which an update swaps. */
interface Mounted {
  path(name: string): string;
  /** All files at once, in one step, as an update does it. */
  swap(files: Readonly<Record<string, string>>): void;
}

/** Removed after the test. */
function mounted(files: Readonly<Record<string, string>>): Mounted {
  const root = mkdtempSync(join(tmpdir(), "secret-"));
  later(async () => rmSync(root, { recursive: true, force: true }));
  let version = 0;
  const swap: Mounted["swap"] = (next) => {
    const name = `..${++version}`;
    mkdirSync(join(root, name));
    for (const [file, text] of Object.entries(next)) writeFileSync(join(root, name, file), text);
    symlinkSync(name, join(root, "..fresh"));
    renameSync(join(root, "..fresh"), join(root, "..data"));
    rmSync(join(root, `..${version - 1}`), { recursive: true, force: true });
  };
  swap(files);
  for (const file of Object.keys(files)) symlinkSync(join("..data", file), join(root, file));
  return { path: (name) => join(root, name), swap };
}

interface Stage {
  readonly files: Mounted;
  readonly platform: Double;
  readonly port: number;
  readonly lines: string[];
  /** As SIGHUP does. */
  reload(): Promise<void>;
  metric(): Promise<string | undefined>;
  /** As `/progress` tells it. */
  refused(): Promise<string[]>;
}

type Pair = { readonly key: string; readonly cert: string };
const secret = (client: Pair, ca: string = LOCALHOST.cert) => ({
  "ca.crt": ca,
  "tls.crt": client.cert,
  "tls.key": client.key,
});

/** A platform that wants a client certificate, and says in its answer which one it was shown. */
function platformOf(hold: (line: string) => Promise<void>): Promise<Double> {
  const trusted = [OTHER_NAME.cert, RENEWED.cert];
  return createDouble(
    async ({ line }, socket) => {
      const shown = socket instanceof TLSSocket ? String(socket.getPeerCertificate().subject.CN) : "none";
      await hold(line);
      socket.write(ok(`{"uid":"a","name":"${shown}"}`));
    },
    { ...LOCALHOST, requestCert: true, rejectUnauthorized: true, ca: trusted },
  );
}

async function stage(hold: (line: string) => Promise<void> = async () => {}): Promise<Stage> {
  const platform = await platformOf(hold);
  later(platform.close);
  const files = mounted(secret(OTHER_NAME));
  const flags = {
    listenHost: "127.0.0.1",
    listenPort: "0",
    adminPort: "0",
    listenShutdownDelaySeconds: "0",
    upstreamV2Url: platform.url,
    upstreamV2TlsCaFile: files.path("ca.crt"),
    upstreamV2TlsCertFile: files.path("tls.crt"),
    upstreamV2TlsKeyFile: files.path("tls.key"),
  };
  const { config } = loadConfig({ flags, env: {}, readFile: (path) => readFileSync(path) });
  const lines: string[] = [];
  const log = createLog({ level: "info", destination: { write: (line) => lines.push(line) } });
  const app = createApp(config, await loadCatalogue(config.upstream.v2.version), { log });
  const { url, adminUrl } = await app.listen();
  later(async () => void (await app.close(1_000)));
  return {
    files,
    platform,
    port: Number(new URL(url).port),
    lines,
    reload: app.reload,
    metric: async () => {
      const text = await (await fetch(`${adminUrl}/metrics`)).text();
      return /^carryover_upstream_certificates_last_reload_successful\{upstream="v2"\} (\S+)$/m.exec(text)?.[1];
    },
    refused: async () => {
      const progress = (await (await fetch(`${adminUrl}/progress`)).json()) as { refusedCertificates: string[] };
      return progress.refusedCertificates;
    },
  };
}

function nameIn({ body }: { readonly body: string }): string {
  return (JSON.parse(body) as { name: string }).name;
}

const TOKEN = "Authorization: Bearer t\r\n";
const PASS = "GET /iam/v2beta1/groups/a";
const TRANSLATED = "GET /iam/v1/groups/a";

describe("client certificates that are renewed", () => {
  it("are shown by calls from then on, while no call under way or beside it fails", async () => {
    const { files, platform, port, lines, reload, metric } = await stage();
    const renewals = scale(3, 60);
    const seen: string[] = [];
    let over = false;
    const client = async (line: string): Promise<void> => {
      while (!over) {
        const answer = await ask(port, line, TOKEN);
        seen.push(answer.status === 200 ? nameIn(answer) : `${answer.status} ${answer.body}`);
      }
    };
    const clients = [PASS, TRANSLATED].map(client);
    for (let i = 0; i < renewals; i++) {
      const [pair, name] = i % 2 === 0 ? [RENEWED, "renewed"] : [OTHER_NAME, "other.example"];
      files.swap(secret(pair));
      await reload();
      for (const line of [PASS, TRANSLATED]) expect(nameIn(await ask(port, line, TOKEN))).toBe(name);
    }
    over = true;
    await Promise.all(clients);
    expect(new Set(seen)).toEqual(new Set(["other.example", "renewed"]));
    expect(lines.filter((line) => line.includes("certificates were renewed"))).toHaveLength(renewals);
    // What was open before is closed, once nothing is under way on it: that takes seconds.
    if (renewals > 3) await platform.until(() => platform.connections() - platform.gone() <= clients.length);
    expect(await metric()).toBe("1");
    figure("certificates", "renewals of client certificates under load", renewals, "renewals");
    figure(
      "certificates",
      "requests that failed in these, of all",
      seen.filter((one) => /^\d/.test(one)).length,
      "requests",
    );
    figure("certificates", "requests made during renewals", seen.length, "requests");
  });

  it("leave an answer alone that began with the old ones", async () => {
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { files, platform, port, reload } = await stage((line) => (line.includes("slow") ? held : Promise.resolve()));
    const slow = ask(port, "GET /iam/v2beta1/groups/slow", TOKEN);
    await platform.until(() => platform.requests.length === 1);
    files.swap(secret(RENEWED));
    await reload();
    expect(nameIn(await ask(port, PASS, TOKEN))).toBe("renewed");
    release();
    expect(nameIn(await slow)).toBe("other.example");
  });
});

describe("certificates that cannot be used", () => {
  it.each([
    ["a key that is not the certificate's", { ...secret(RENEWED), "tls.key": OTHER_NAME.key }, "tls.key"],
    ["half a certificate", { ...secret(RENEWED), "tls.crt": RENEWED.cert.slice(0, 200) }, "tls.crt"],
    ["an empty authority", secret(RENEWED, ""), "ca.crt"],
    ["no certificate", { "ca.crt": LOCALHOST.cert, "tls.key": RENEWED.key }, "tls.crt"],
  ])("(%s) leave the ones before them in force, and the log names the file", async (_, wrong, file) => {
    const { files, port, lines, reload, metric, refused } = await stage();
    files.swap(wrong);
    await reload();
    await reload();
    const told = lines.filter((line) => line.includes("certificates cannot be used"));
    expect(told).toHaveLength(1);
    expect(told[0]).toContain(file);
    expect(told[0]).toContain("upstream.v2.tls");
    expect(told[0]).not.toContain("BEGIN");
    expect([await metric(), await refused()]).toEqual(["0", ["v2"]]);
    expect(nameIn(await ask(port, PASS, TOKEN))).toBe("other.example");

    files.swap(secret(RENEWED));
    await reload();
    expect([await metric(), await refused()]).toEqual(["1", []]);
    expect(nameIn(await ask(port, PASS, TOKEN))).toBe("renewed");
  });

  it("are forgotten when the files hold again what is in force", async () => {
    const { files, port, lines, reload, metric } = await stage();
    files.swap({ ...secret(RENEWED), "tls.key": "" });
    await reload();
    expect(await metric()).toBe("0");
    files.swap(secret(OTHER_NAME));
    await reload();
    expect([await metric(), lines.filter((line) => line.includes("hold what is in force again")).length]).toEqual([
      "1",
      1,
    ]);
    expect(nameIn(await ask(port, PASS, TOKEN))).toBe("other.example");
  });
});

describe("an authority that is renewed", () => {
  it("is trusted from then on, and the one before it no more", async () => {
    const { files, port, reload } = await stage();
    files.swap(secret(OTHER_NAME, RENEWED.cert));
    await reload();
    const refused = await ask(port, PASS, TOKEN);
    expect([refused.status, refused.json().details[0]?.reason]).toEqual([502, "UPSTREAM_UNREACHABLE"]);
    files.swap(secret(OTHER_NAME, `${RENEWED.cert}\n${LOCALHOST.cert}`));
    await reload();
    expect((await ask(port, PASS, TOKEN)).status).toBe(200);
  });
});
