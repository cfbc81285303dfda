/** Requests that hold a secret in every place that may hold one. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { Agent, createServer, request as httpRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { carryover } from "../../../end-to-end/app/process.ts";
import { later, listening } from "../../../end-to-end/app/rig.ts";

/** Begins each secret of a request; a number and the kind follow. */
export const SECRET = "hush-";
const RULES = `version: carryover/v1
rules:
  - { name: native, match: { header: { x-way: native } }, mode: native }
  - { name: shadow, match: { header: { x-way: shadow } }, mode: shadow, shadow: { sample: 1, control: 0 } }
`;

/** A page of a short list; of one of several pages, which is read by windows, when a filter is given. */
function pageOf(query: string, token: string): object {
  const total = query.includes("name=") ? 450 : 2;
  const skip = Number(/skip=(\d+)|page_token=[\w-]*-(\d+)/.exec(query)?.slice(1).join("") ?? 0);
  const end = total === 2 ? skip + 1 : Math.min(total, skip + 200);
  const groups = Array.from({ length: end - skip }, (_, at) => ({
    uid: `a${1000 + skip + at}`,
    name: "x",
    description: "",
  }));
  return {
    groups,
    nextPageToken: end < total ? `${token}-${end}` : "",
    totalCount: String(total),
    ...(query.includes("skip=") ? { skipped: skip } : {}),
  };
}

/** Serves both versions and token exchange; does not answer when it is asked to wait. Every list has a page token of its own. */
async function platform(): Promise<string> {
  let pages = 0;
  const server = createServer((req, res) => {
    let sent = "";
    req
      .on("error", () => {})
      .on("data", (piece: Buffer) => {
        sent += piece;
      });
    req.on("end", () => {
      const [path = "", query = ""] = (req.url ?? "").split("?");
      if (path.endsWith("wait")) return;
      res.setHeader("content-type", "application/json");
      const list = pageOf(query, `${SECRET}page-${++pages}`);
      if (path.startsWith("/sts")) res.end(`{"token":"${SECRET}issued-${++pages}"}`);
      else if (path === "/iam/v2beta1/groups") res.end(JSON.stringify(list));
      else if (path === "/iam/v1/groups")
        res.end(`{"items":[{"id":"a","name":"${SECRET}native-${++pages}","description":""}]}`);
      else
        res.end(
          JSON.stringify({
            uid: path.split("/groups/")[1],
            name: "x",
            description: "",
            ...(sent === "" ? {} : JSON.parse(sent)),
          }),
        );
    });
  });
  return `http://127.0.0.1:${await listening(server)}`;
}

/** carryover in a process of its own before that platform, in every mode; `agent`: its clients' few kept connections. */
export async function started(envOf: (folder: string) => Record<string, string>) {
  const folder = await mkdtemp(join(tmpdir(), "started-"));
  later(() => rm(folder, { recursive: true, force: true }));
  await writeFile(join(folder, "rules.yaml"), RULES);
  const url = await platform();
  const options = `--listen-host 127.0.0.1 --listen-port 0 --admin-port 0 --upstream-v2-url ${url} --upstream-v1-url ${url}
    --upstream-sts-url ${url}
    --clients-identify claim:sub,header:x-api-key,user-agent --cutover-mode translate
    --cutover-rules-file ${join(folder, "rules.yaml")}`;
  const running = carryover(["serve", ...options.split(/\s+/)], envOf(folder));
  const told = await running.until(/admin at http\S+/);
  const port = Number(/v1 clients at http:\/\/[^:]+:(\d+)/.exec(told)?.[1]);
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  later(async () => agent.destroy());
  return { folder, running, port, agent };
}

export interface Kind {
  readonly method: string;
  readonly target: string;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** One request of each kind, with secrets in every place that may hold one. */
export function kinds(nth: number): readonly Kind[] {
  const query = `access_token=${SECRET}query-${nth}`;
  const secret = `${SECRET}body-${nth}`;
  return [
    { method: "GET", target: "/iam/v1/groups/a" },
    { method: "GET", target: `/iam/v1/groups?${query}` },
    { method: "GET", target: `/iam/v2beta1/groups?page_token=${SECRET}page-of-client-${nth}-1` },
    { method: "GET", target: `/iam/v2beta1/groups/a?${query}`, headers: { cookie: `session=${SECRET}cookie-${nth}` } },
    { method: "PUT", target: "/iam/v1/groups/a", body: JSON.stringify({ name: secret }) },
    { method: "PUT", target: "/iam/v1/groups/a", body: `{"name":"${secret}` },
    { method: "PATCH", target: "/iam/v2beta1/groups/a?updateMask=name", body: JSON.stringify({ name: secret }) },
    { method: "GET", target: `/iam/v1/groups?x=${nth}`, headers: { "x-way": "native" } },
    // Names that are long enough for the engine to keep what they were cut out of.
    { method: "GET", target: `/iam/v1/groups?an_unheard_of_parameter=1&${query}` },
    { method: "PUT", target: "/iam/v1/groups/a", body: JSON.stringify({ anUnheardOfMember: secret, name: "x" }) },
    { method: "GET", target: `/iam/v1/groups?name=${SECRET}filter-${nth}` },
    { method: "GET", target: "/iam/v1/groups/a", headers: { "x-api-key": `${SECRET}key-${nth}` } },
    {
      method: "GET",
      target: "/iam/v1/groups/a",
      headers: { "user-agent": `a-long-product-name ${SECRET}agent-${nth}` },
    },
    { method: "GET", target: `/nowhere?${query}` },
    { method: "GET", target: "/sts/exchange?aud=x" },
    // Last: what is compared behind the client's back ends after everything else.
    { method: "GET", target: "/iam/v1/groups", headers: { "x-way": "shadow" } },
  ];
}

export function ask(port: number, agent: Agent, nth: string, { method, target, body, headers }: Kind): Promise<number> {
  return new Promise((resolve) => {
    const authorization = `Bearer ${SECRET}token-${nth}`;
    const asked = httpRequest(
      { port, agent, method, path: target, headers: { authorization, ...headers } },
      (answer) => {
        answer.resume().on("end", () => resolve(answer.statusCode ?? 0));
      },
    );
    asked.on("error", () => resolve(0)).end(body);
  });
}
