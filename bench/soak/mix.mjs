/** The requests of a soak test, and the responses that each may get. */

const TENANTS = 20;
const RECORDS = 450;
/** Of 1,000 requests. */
const KINDS = [
  ["get", 480],
  ["pass", 250],
  ["update", 100],
  ["native", 60],
  ["shadow", 60],
  ["list", 30],
  ["big", 20],
];
const FAULTS = [
  ["ok", 890],
  ["slow", 40],
  ["cancel", 30],
  ["reset", 15],
  ["unavailable", 15],
  ["cut", 10],
];

function pick(table, at) {
  let rest = at * 1_000;
  for (const [name, share] of table) {
    rest -= share;
    if (rest < 0) return name;
  }
  return table[0][0];
}

/** Of 1,000 lists in a hard soak: the platform's pages contradict its count, or others write meanwhile. */
const LIST_FAULTS = [
  ["expired", 200],
  ["writers", 600],
];

/** What passes through begins to go out before it is known whether it will be whole. */
const STREAMED = new Set(["pass", "native", "shadow", "big"]);

/** Statuses that the platform's failure may become; 0 is an answer that breaks off. */
function allowed(kind, fault) {
  switch (fault) {
    case "reset":
      return [502];
    case "unavailable":
      return [503];
    case "cut":
      return STREAMED.has(kind) ? [0, 502] : [502];
    case "cancel":
      return [];
    case "expired":
      return [502];
    default:
      return [200];
  }
}

/** The next request of `random` (numbers from 0 up to 1): all of it follows from these. `hard`: lists meet more. */
export function nextRequest(random, hard = false) {
  const kind = pick(KINDS, random());
  const usual = pick(FAULTS, random());
  const fault = hard && kind === "list" && usual === "ok" ? pick([...LIST_FAULTS, ["ok", 200]], random()) : usual;
  const tenant = 1 + Math.floor(random() * TENANTS);
  const index = Math.floor(random() * RECORDS);
  const id = `${tenant.toString(16).padStart(40, "0")}/${index.toString(16).padStart(16, "0")}`;
  const late = fault === "cancel" && random() < 0.5;
  const told = fault === "cancel" ? (late ? "late" : "ok") : fault;
  const headers = { authorization: `Bearer t${tenant}.${told}` };
  const shared = {
    kind,
    fault,
    tenant,
    allowed: allowed(kind, fault),
    leaveAfterMs: fault === "cancel" ? random() * 50 : undefined,
  };
  switch (kind) {
    case "list":
      return { ...shared, method: "GET", path: "/iam/v1/groups", headers, ...recordsOf(fault) };
    case "pass":
      return { ...shared, method: "GET", path: `/iam/v2beta1/groups/${id}`, headers };
    case "big":
      return { ...shared, method: "GET", path: "/iam/v2beta1/big", headers };
    case "update": {
      const body = JSON.stringify({ name: `tenant-${tenant}-`, description: `written by tenant-${tenant}-` });
      return {
        ...shared,
        method: "PUT",
        path: `/iam/v1/groups/${id}`,
        headers: { ...headers, "content-type": "application/json" },
        body,
      };
    }
    case "native":
    case "shadow":
      return { ...shared, method: "GET", path: `/iam/v1/groups/${id}`, headers: { ...headers, "x-soak": kind } };
    default:
      return { ...shared, method: "GET", path: `/iam/v1/groups/${id}`, headers };
  }
}

/** With writers each tenth record may be missing, and no other. */
function recordsOf(fault) {
  if (fault !== "writers") return { records: RECORDS };
  const stay = Array.from({ length: RECORDS }, (_, i) => i).filter((i) => i % 10 !== 0);
  return { stay: stay.map((i) => i.toString(16).padStart(16, "0")) };
}

/** Under these, header `x-soak` says who answers. `round`: another text each time, which changes nothing for anybody here. */
export function rulesOf(round) {
  return `version: carryover/v1
rules:
  - { name: nobody-${round % 7}, match: { client: nobody-${round} }, mode: native }
  - { name: native, match: { header: { x-soak: native } }, mode: native }
  - { name: shadow, match: { header: { x-soak: shadow } }, mode: shadow, shadow: { sample: 0.2 } }
`;
}
