/** The clients of the walkthrough: a CI bot, a UI, a backup, one with incomplete PUTs, one with odd fields, and 200 agents. */
import http from "node:http";

/** How many agents: enough for one percent of the clients to be somebody. */
const AGENTS = 200;
const AT_A_TIME = 6;
/** Calls of agents in one round. */
const READS = 50;
const WRITES = 10;
/** Lists of roles in one round: enough for one percent of them to be compared soon. */
const ROLES = 10;
/** What is long or rare is called in every so many rounds. */
const RARELY = 5;

/**
 * All of them, calling `base()`. `round()` makes a few dozen calls; `state.seen` has what the clients saw of each, `state.refused` the
 * responses that `state.mayRefuse` allows for, `state.faults` all others that are no success. A client in `onV2` calls v2 instead of
 * v1; `withoutHistory`: no client asks for what v2 lacks; `withRareJob`: one asks for it that did not before.
 */
export async function createClients({ sandbox, base }) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: AT_A_TIME });
  const uids = uidsOf(sandbox.snapshot().groups);
  const clients = [...named(sandbox.wellKnown, uids), ...agents(uids)];
  const tokens = new Map(clients.map(({ subject }) => [subject, sandbox.token(`admin#${subject}`)]));
  const state = { rounds: 0, calls: 0, faults: [], seen: [], refused: [], mayRefuse: () => false, onV2: new Set() };
  const call = async ({ subject, product }, { method = "GET", target, body, after }) => {
    const headers = { authorization: `Bearer ${tokens.get(subject)}`, "user-agent": product };
    const url = new URL(target, base());
    const sentAt = Date.now();
    const answer = await send({ agent, method, url, headers, body });
    state.calls += 1;
    const one = {
      subject,
      write: method !== "GET",
      target,
      at: url.origin,
      sentAt,
      status: answer.status,
      mode: answer.headers["carryover-mode"],
      headers: answer.headers,
    };
    state.seen.push(one);
    if (answer.status >= 300) {
      const refusal = { ...one, text: answer.text };
      if (state.mayRefuse(refusal)) state.refused.push(refusal);
      else state.faults.push(`${subject}: ${method} ${target}: ${answer.status} ${answer.text.slice(0, 200)}`);
    } else if (after !== undefined) await call({ subject, product }, after(JSON.parse(answer.text)));
    return answer;
  };
  const work = () =>
    clients.flatMap((client) => {
      const calls = state.onV2.has(client.subject) ? client.v2(state) : client.v1(state);
      return calls.map((one) => () => call(client, one));
    });
  return {
    state,
    subjects: clients.map(({ subject }) => subject),
    /** Whose token it is. */
    subjectOf: (token) => [...tokens].find(([, own]) => own === token)?.[0],
    async round() {
      const waiting = work();
      state.rounds += 1;
      const worker = async () => {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await next();
      };
      await Promise.all(Array.from({ length: AT_A_TIME }, worker));
    },
    close: () => agent.destroy(),
  };
}

const V2 = "v2beta1";
const id = encodeURIComponent;

function named(known, uids) {
  const [own, sloppy] = uids;
  const person = (name, product, v1, v2) => ({ subject: `${name}@example.com`, product, v1, v2 });
  const requests = "python-requests/2.31.0";
  const get = (uid) => ({ target: `/iam/v1/groups?id=${id(uid)}` });
  const get2 = (uid) => ({ target: `/iam/${V2}/groups/${uid}` });
  const patch2 = (uid, body, mask) => ({
    method: "PATCH",
    target: `/iam/${V2}/groups/${uid}?updateMask=${mask}`,
    body,
  });
  return [
    person(
      "ci",
      "ci-runner/7.4",
      () => [...uids.slice(2, 6).map(get), ...Array.from({ length: ROLES }, () => ({ target: "/iam/v1/roles" }))],
      () => [...uids.slice(2, 6).map(get2), { target: `/iam/${V2}/roles?page_size=200` }],
    ),
    person(
      "ui",
      "Mozilla/5.0",
      ({ rounds }) => [
        get(own),
        { method: "PUT", target: `/iam/v1/groups/${own}`, body: { name: "ui-team", description: `seen ${rounds}` } },
      ],
      ({ rounds }) => [get2(own), patch2(own, { description: `seen ${rounds}` }, "description")],
    ),
    person(
      "backup",
      requests,
      ({ rounds }) => (rounds % RARELY === 0 ? [{ target: "/iam/v1/groups" }] : []),
      ({ rounds }) => (rounds % RARELY === 0 ? [{ target: `/iam/${V2}/groups?page_size=200` }] : []),
    ),
    person(
      "legacy",
      requests,
      () => [{ method: "PUT", target: `/iam/v1/groups/${sloppy}`, body: { name: "legacy-team" } }],
      () => [patch2(sloppy, { name: "legacy-team", description: "" }, "name,description")],
    ),
    person(
      "scripts",
      requests,
      ({ rounds, withRareJob }) => [
        make(`/iam/v1/groups/${known.someGroup}`, "id", "/iam/v1/groups/", rounds, { colour: "red" }),
        ...(withRareJob ? [{ target: `/registry/v1/tags/${known.tag}/history` }] : []),
      ],
      ({ rounds }) => [make(`/iam/${V2}/groups/${known.someGroup}`, "uid", `/iam/${V2}/groups/`, rounds, {})],
    ),
    person(
      "audit",
      requests,
      ({ rounds, withoutHistory }) =>
        rounds % RARELY === 0 && !withoutHistory ? [{ target: `/registry/v1/tags/${known.tag}/history` }] : [],
      () => [],
    ),
  ];
}

/** Makes a group, and removes it again. */
function make(parent, key, prefix, rounds, more) {
  return {
    method: "POST",
    target: parent,
    body: { name: `tmp-${rounds}`, ...more },
    after: (made) => ({ method: "DELETE", target: prefix + made[key] }),
  };
}

/** Each reads its own group, and writes it now and then. */
function agents(uids) {
  return Array.from({ length: AGENTS }, (_, index) => {
    const uid = uids[20 + index];
    const turn = (rounds, many) => (index - rounds * many + AGENTS * 1_000_000) % AGENTS < many;
    const body = (rounds) => ({ name: `agent-${index}`, description: `round ${rounds}` });
    return {
      subject: `agent-${index}@example.com`,
      product: "python-requests/2.31.0",
      v1: ({ rounds }) => [
        ...(turn(rounds, READS) ? [{ target: `/iam/v1/groups?id=${id(uid)}` }] : []),
        ...(turn(rounds, WRITES) ? [{ method: "PUT", target: `/iam/v1/groups/${uid}`, body: body(rounds) }] : []),
      ],
      v2: ({ rounds }) => (turn(rounds, READS) ? [{ target: `/iam/${V2}/groups/${uid}` }] : []),
    };
  });
}

function uidsOf(groups) {
  // Below the organisation's own teams: nobody else writes them.
  return groups.map(({ uid }) => uid).filter((uid) => uid.split("/").length === 4);
}

function send({ agent, method, url, headers, body }) {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const type =
      text === undefined ? {} : { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
    const request = http.request(url, { agent, method, headers: { ...headers, ...type } }, (response) => {
      const pieces = [];
      response.on("data", (piece) => pieces.push(piece));
      response.on("error", reject);
      response.on("end", () => {
        resolve({ status: response.statusCode, headers: response.headers, text: Buffer.concat(pieces).toString() });
      });
    });
    request.on("error", reject);
    request.end(text);
  });
}
