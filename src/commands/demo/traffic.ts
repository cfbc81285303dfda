/** Clients of the demo, which call carryover for as long as it runs: so its page has something to show. */
import { dateOf, dayOf } from "../../ledger/days.ts";
import { later } from "../../model/clock.ts";
import type { SendLayer } from "../../model/http.ts";
import type { CommandIo } from "../command.ts";
import type { Demo } from "./stage.ts";

const EVERY_MS = 2_000;

/** Rules of the demo: reads of roles are compared, all else is translated, and brownouts begin two weeks from now. `at`: milliseconds since 1970. */
export function demoRules(at: number): string {
  const dayIn = (days: number): string => dateOf(dayOf(at) + days);
  return `version: carryover/v1
rules:
  - name: brownouts
    match: { percent: 10, time: { from: ${dayIn(14)}, until: ${dayIn(42)} } }
    mode: brownout
    schedule: { cron: "0 9 * * 2", zone: Europe/Vienna, duration: 10m }
    brownout: { contact: api-team@example.com, exempt: [terraform], singleReplica: true }
    headers: { sunset: ${dayIn(90)} }
  - name: role-reads
    match: { resource: roles, operation: reads }
    mode: shadow
    shadow: { sample: 1 }
  - name: group-reads
    match: { resource: groups, operation: reads }
    mode: translate
`;
}

/** A configuration file that names their owners. */
export const DEMO_CLIENTS = `clients:
  names:
    - { name: portal, identity: portal, owner: Web team, contact: "#web" }
    - { name: ci-bot, identity: ci-bot, owner: Build team, contact: build@example.com }
    - { name: moved-already, identity: moved-already, owner: Mobile team, contact: "#mobile" }
`;

/** v2 describes one role in other words than native v1 does: a difference to look at. */
export const rewordOneRole: SendLayer = (next) => async (request, options) => {
  const response = await next(request, options);
  if (!request.target.startsWith("/iam/v2beta1/roles?")) return response;
  const text = new TextDecoder().decode(response.body).replace(/("name":"editor","description":")/, "$1v2: ");
  return { ...response, body: new TextEncoder().encode(text) };
};

/** Returns what ends it. A call that fails is left out: the page shows it. */
export function startTraffic({ url, token, sandbox }: Demo, { fetch }: Pick<CommandIo, "fetch">): () => void {
  const group = sandbox.wellKnown.someGroup;
  const call = async (client: string, path: string, body?: string): Promise<void> => {
    const headers = { authorization: `Bearer ${token}`, "user-agent": `${client}/1.0` };
    const options = body === undefined ? { headers } : { method: "PUT", headers, body };
    await (await fetch(`${url}${path}`, options)).arrayBuffer();
  };
  let turn = 0;
  let cancel = (): void => {};
  const round = async (): Promise<void> => {
    turn += 1;
    await call("portal", `/iam/v1/groups/${group}`);
    await call("ci-bot", `/iam/v1/roles?name=${["viewer", "editor", "owner"][turn % 3]}`);
    await call("moved-already", "/iam/v2beta1/groups?page_size=5");
    if (turn % 5 === 1) await call("terraform", `/iam/v1/groups/${group}`, JSON.stringify({ name: `plan ${turn}` }));
    if (turn % 7 === 2) await call("portal", "/iam/v1/groups/none-of-that-name");
  };
  let isOver = false;
  const schedule = (): void => {
    if (isOver) return;
    cancel = later(EVERY_MS, () => {
      void round()
        .catch(() => {})
        .then(schedule);
    });
  };
  schedule();
  return () => {
    isOver = true;
    cancel();
  };
}
