/** Objects that the values name as existing already, as a user would provide them. */
import { CERTIFICATE, PRIVATE_KEY } from "./certificate.ts";
import type { Manifest } from "./chart.ts";
import { type Find, finderIn } from "./pod.ts";
import { stringsIn } from "./workloads.ts";

const UPSTREAMS = ["v2", "v1", "sts"].map((name) => `${name}: { url: https://${name}.brought.example.com }`);

/** By the keys that the chart uses by default. */
const CONTENTS: ReadonlyMap<string, string> = new Map([
  ["config.yaml", `upstream: { ${UPSTREAMS.join(", ")} }\ncutover: { mode: native }\n`],
  ["rules.yaml", "version: carryover/v1\nforce: none\nrules: []\n"],
  ["token", "a-token-of-the-user\n"],
  ["salt", "a-salt-of-the-user"],
  ["password", "a-password-of-the-user\n"],
  ["ca.crt", CERTIFICATE],
  ["tls.crt", CERTIFICATE],
  ["tls.key", PRIVATE_KEY],
  ["api.binpb", "a-file-descriptor-set"],
]);

/** The key that the values name instead of each key above. */
function keysIn(values: Manifest): ReadonlyMap<string, string> {
  const keys = new Map(CONTENTS);
  const add = (usual: string, named: unknown) => {
    if (typeof named === "string") keys.set(named, CONTENTS.get(usual) ?? "");
  };
  add("config.yaml", values.configFrom?.key);
  add("rules.yaml", values.rulesFrom?.key);
  add("token", values.adminToken?.key);
  add("salt", values.salt?.key);
  add("password", values.state?.password?.key);
  add("api.binpb", values.grpcDescriptors?.key);
  for (const name of ["v2", "v1", "sts", "state"]) {
    add("ca.crt", values.tls?.[name]?.ca?.key);
    add("tls.crt", values.tls?.[name]?.client?.certKey);
    add("tls.key", values.tls?.[name]?.client?.keyKey);
  }
  return keys;
}

/** Such an object, as the API server would hold it. */
export function brought(kind: string, name: string, values: Manifest): Manifest {
  const entries = [...keysIn(values)].map(([key, text]): [string, string] => [
    key,
    kind === "Secret" ? Buffer.from(text).toString("base64") : text,
  ]);
  return { apiVersion: "v1", kind, metadata: { name }, data: Object.fromEntries(entries) };
}

/** What was rendered, and else what the values name. */
export function finderWith(objects: readonly Manifest[], values: Manifest): Find {
  const rendered = finderIn(objects);
  const names = stringsIn(values);
  return (kind, name) => rendered(kind, name) ?? (names.has(name) ? brought(kind, name, values) : undefined);
}
