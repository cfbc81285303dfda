/** Maps the addresses that pages name to free ports. (Those with `https` get TLS in front.) */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { connect, type Server } from "node:net";
import { join } from "node:path";
import { createServer as createTlsServer } from "node:tls";
import { freePorts } from "../../scripts/free-ports.mjs";

/** Ports of this machine that pages name. */
const PORTS = [80, 81, 443, 3000, 8000, 8080, 8081, 8082, 8083, 8084, 8085, 8090, 8180, 8181, 9090];
const PLATFORM = "api.example.com";
const CARRYOVER = ["v1.example.com", "carryover.example.com"];
/** Admin ports of two replicas: by address, and by name behind TLS. */
const REPLICAS = [
  { address: "10.0.0.1:8081", name: "carryover-1.internal" },
  { address: "10.0.0.2:8081", name: "carryover-2.internal" },
];

export interface Addresses {
  /** `host:port` as pages name it, and the port of this machine that stands for it. */
  readonly network: ReadonlyMap<string, number>;
  /** Ports that are free for the admin sides of the replicas. */
  readonly replicas: readonly number[];
  /** The free port that stands for one of this machine. */
  port(named: number): number;
}

/** Keeps key and certificate in `folder`, as `key.pem` and `ca.pem`; `undo` gets what ends it. */
export async function createAddresses(folder: string, platform: string, undo: (() => unknown)[]): Promise<Addresses> {
  const free = await freePorts(PORTS.length + REPLICAS.length);
  const here = new Map(PORTS.map((named, index) => [named, free[index] ?? 0]));
  const replicas = free.slice(PORTS.length);
  const port = (named: number) => here.get(named) ?? named;
  const pem = certificate(folder);
  const tls = async (name: string, behind: number) => {
    const server = tlsBefore(behind, pem);
    undo.push(() => server.close());
    return [`${name}:443`, await listening(server)] as const;
  };
  const network = new Map<string, number>([
    ...PORTS.map((named) => [`127.0.0.1:${named}`, port(named)] as const),
    await tls(PLATFORM, Number(new URL(platform).port)),
    ...(await Promise.all(CARRYOVER.map((name) => tls(name, port(8080))))),
    ...REPLICAS.map(({ address }, index) => [address, replicas[index] ?? 0] as const),
    ...(await Promise.all(REPLICAS.map(({ name }, index) => tls(name, replicas[index] ?? 0)))),
  ]);
  return { network, replicas, port };
}

/** What a reader's machine believes of those certificates, for Node and for curl. */
export function curlConfig({ network }: Addresses, folder: string): string {
  const lines = [...network].flatMap(([name, port]) => {
    const names = name.startsWith("127.0.0.1:") ? [name, name.replace("127.0.0.1", "localhost")] : [name];
    return names.map((one) => `connect-to = "${one}:127.0.0.1:${port}"`);
  });
  return [`cacert = "${join(folder, "ca.pem")}"`, ...lines, ""].join("\n");
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

interface Pem {
  readonly key: string;
  readonly cert: string;
}

/** Signed by itself, for every name that pages have behind `https`. */
function certificate(folder: string): Pem {
  const names = [PLATFORM, ...CARRYOVER, ...REPLICAS.map(({ name }) => name)].map((name) => `DNS:${name}`);
  const [key, cert] = [join(folder, "key.pem"), join(folder, "ca.pem")];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const who = ["-subj", "/CN=pages", "-addext", `subjectAltName=${names.join(",")}`, "-days", "90"];
  execFileSync("openssl", ["req", "-x509", ...curve, ...who, "-keyout", key, "-out", cert], { stdio: "ignore" });
  return { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
}

/** Speaks TLS and hands on what arrives. */
function tlsBefore(port: number, pem: Pem): Server {
  return createTlsServer(pem, (socket) => {
    const behind = connect(port, "127.0.0.1");
    const end = () => {
      socket.destroy();
      behind.destroy();
    };
    socket.on("error", end).on("close", end).pipe(behind);
    behind.on("error", end).on("close", end).pipe(socket);
  });
}
