/** Starts a Kubernetes control plane with nodes that run nothing. (`scripts/install-cluster-tools.sh` installs it.) */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { freePorts } from "../../../scripts/free-ports.mjs";
import { CACHE, DEFINITIONS, type Outcome, ran, said } from "../chart/tools.ts";

const TOOLS = join(CACHE, "cluster");

/** The path of a program. Throws with the remedy when it is not there: a test never passes without it. */
function program(name: string): string {
  const path = join(TOOLS, "bin", name);
  if (!existsSync(path)) throw new Error(`${path} is not there: run scripts/install-cluster-tools.sh`);
  return path;
}

export interface Cluster {
  readonly kubeconfig: string;
  /** Runs kubectl; rejects with its words when it fails. */
  kubectl(argv: readonly string[], input?: string): Promise<string>;
  /** Runs a script of bash that calls kubectl, whatever comes of it. */
  shell(script: string): Promise<Outcome>;
  stop(): Promise<void>;
}

interface Part {
  readonly name: string;
  readonly child: ChildProcess;
  readonly ended: Promise<void>;
  said(): string;
}

const PROGRAMS = ["etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl", "kwok"];
const TOKEN = "of-this-test-only";
const NODES = 3;

/** Ready to take objects, with the custom resources of the chart and three nodes. */
export async function startCluster(): Promise<Cluster> {
  for (const name of PROGRAMS) program(name);
  const folder = await mkdtemp(join(tmpdir(), "carryover-cluster-"));
  const parts: Part[] = [];
  const stop = async () => {
    for (const { child } of parts.toReversed()) child.kill("SIGKILL");
    await Promise.all(parts.map(({ ended }) => ended));
    await rm(folder, { recursive: true, force: true });
  };
  try {
    return await startIn(folder, parts, stop);
  } catch (error) {
    const last = parts.map(({ name, said }) => `${name}: ${said().slice(-2_000)}`);
    await stop();
    throw new Error(`the control plane did not come up:\n${last.join("\n")}`, { cause: error });
  }
}

async function startIn(folder: string, parts: Part[], stop: () => Promise<void>): Promise<Cluster> {
  const [clients, peers, api] = (await freePorts(3)) as [number, number, number];
  const kubeconfig = join(folder, "kubeconfig");
  await writeFile(kubeconfig, kubeconfigFor(`https://127.0.0.1:${api}`));
  await writeFile(join(folder, "tokens.csv"), `${TOKEN},admin,admin,"system:masters"\n`);
  await said("openssl", ["genrsa", "-out", join(folder, "sa.key"), "2048"]);
  const kubectl = (argv: readonly string[], input = "") =>
    said(program("kubectl"), ["--kubeconfig", kubeconfig, ...argv], { input, env: { KUBECACHEDIR: folder } });
  const start = (name: string, argv: readonly string[]) => parts.push(started(name, argv, folder));
  const up = (what: string, asks: () => Promise<unknown>) => until(what, asks, parts);

  start("etcd", etcd(folder, `http://127.0.0.1:${clients}`, `http://127.0.0.1:${peers}`));
  start("kube-apiserver", apiServer(folder, `http://127.0.0.1:${clients}`, String(api)));
  await up("the API server", () => kubectl(["get", "--raw", "/readyz"]));
  // One of each, without clients.
  const alone = ["kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig"].map(
    (flag) => `--${flag}=${kubeconfig}`,
  );
  alone.push("--leader-elect=false", "--secure-port=0");
  start("kube-scheduler", alone);
  start("kube-controller-manager", [...alone, `--service-account-private-key-file=${join(folder, "sa.key")}`]);
  const stages = (await readdir(join(TOOLS, "stages"))).map((name) => `--config=${join(TOOLS, "stages", name)}`);
  start("kwok", [
    ...["--kubeconfig", kubeconfig, "--manage-all-nodes=true", "--cidr=10.0.0.1/16", "--node-ip=10.0.0.1"],
    ...["--node-lease-duration-seconds=40", "--server-address=127.0.0.1:0", ...stages],
  ]);
  await kubectl(["apply", "--server-side", "--filename", DEFINITIONS]);
  await kubectl(["wait", "--for=condition=Established", "--timeout=60s", "customresourcedefinitions", "--all"]);
  await kubectl(["apply", "--filename", "-"], Array.from({ length: NODES }, (_, at) => node(at)).join("\n---\n"));
  await kubectl(["wait", "--for=condition=Ready", "--timeout=60s", "nodes", "--all"]);
  const path = `${join(TOOLS, "bin")}:${process.env["PATH"]}`;
  const shell = (script: string) =>
    ran("bash", ["-c", script], { env: { PATH: path, KUBECONFIG: kubeconfig, KUBECACHEDIR: folder } });
  return { kubeconfig, kubectl, shell, stop };
}

const etcd = (folder: string, clients: string, peers: string): readonly string[] => [
  ...["--data-dir", join(folder, "etcd"), "--unsafe-no-fsync", "--log-level", "warn"],
  ...["--listen-client-urls", clients, "--advertise-client-urls", clients, "--listen-peer-urls", peers],
  ...["--initial-advertise-peer-urls", peers, "--initial-cluster", `default=${peers}`],
];

const apiServer = (folder: string, store: string, port: string): readonly string[] => [
  ...[`--etcd-servers=${store}`, "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", `--secure-port=${port}`],
  ...[`--cert-dir=${join(folder, "certs")}`, "--service-cluster-ip-range=10.96.0.0/16,fd00:10:96::/112"],
  ...["--service-account-issuer=https://kubernetes.default.svc", `--token-auth-file=${join(folder, "tokens.csv")}`],
  ...[
    `--service-account-key-file=${join(folder, "sa.key")}`,
    `--service-account-signing-key-file=${join(folder, "sa.key")}`,
  ],
  ...["--authorization-mode=RBAC", "--endpoint-reconciler-type=none"],
  // etcd 3.4 has not all that lists by watching need: clients would hear of changes a minute late.
  "--feature-gates=WatchList=false",
];

const kubeconfigFor = (server: string): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "test", cluster: { server, "insecure-skip-tls-verify": true } }],
    users: [{ name: "test", user: { token: TOKEN } }],
    contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
    "current-context": "test",
  });

const node = (at: number): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "Node",
    metadata: {
      name: `node-${at}`,
      annotations: { "kwok.x-k8s.io/node": "fake" },
      labels: {
        "kubernetes.io/hostname": `node-${at}`,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "topology.kubernetes.io/zone": `zone-${at}`,
      },
    },
    status: {
      allocatable: { cpu: "32", memory: "256Gi", pods: "110" },
      capacity: { cpu: "32", memory: "256Gi", pods: "110" },
    },
  });

/** It dies with this process, even when that is killed. */
function started(name: string, argv: readonly string[], cwd: string): Part {
  const child = spawn("setpriv", ["--pdeathsig", "KILL", program(name), ...argv], {
    cwd,
    env: { PATH: process.env["PATH"] ?? "", HOME: cwd },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let words = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      words = (words + text).slice(-20_000);
    });
  }
  const ended = new Promise<void>((done) => {
    child.once("error", () => done());
    child.once("close", () => done());
  });
  return { name, child, ended, said: () => words };
}

/** Asks until there is no fault; what the last fault was, when a part of the control plane has ended or nothing comes of it. */
async function until(what: string, asks: () => Promise<unknown>, parts: readonly Part[]): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await asks();
      return;
    } catch (error) {
      const over = parts.find(({ child }) => child.exitCode !== null);
      if (over !== undefined) throw new Error(`${over.name} ended`, { cause: error });
      if (attempt === 300) throw new Error(`${what} does not answer`, { cause: error });
      await wait(200);
    }
  }
}
