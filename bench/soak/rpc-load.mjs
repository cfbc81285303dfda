/** Calls the gRPC port for a long time, translated and passed through, and checks every response. */
import { readFileSync } from "node:fs";
import { connect } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { createFileRegistry, fromBinary, fromJson, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";

const SESSIONS = 4;
const TENANTS = 20;
const RECORDS = 450;
const TICK_MS = 20;
const EXAMPLES = 10;
const [OK, UNKNOWN, NOT_FOUND, EXHAUSTED, INTERNAL, UNAVAILABLE] = [0, 2, 5, 8, 13, 14];

/** Of 1,000 calls. */
const KINDS = [
  ["one", 300],
  ["update", 100],
  ["list", 40],
  ["moving", 140],
  ["native", 60],
  ["v2", 250],
  ["watch", 90],
  ["big", 20],
];
/** What the platform does to calls that are translated, over HTTP, and the codes that they may end with. */
const TRANSLATED = [
  ["ok", 880, [OK]],
  ["slow", 40, [OK]],
  ["cancel", 30, []],
  ["reset", 20, [UNAVAILABLE, UNKNOWN]],
  ["unavailable", 15, [UNAVAILABLE]],
  ["cut", 15, [UNAVAILABLE, UNKNOWN]],
];
/** The same of calls that pass through. */
const PASSED = [
  ["ok", 860, [OK]],
  ["slow", 30, [OK]],
  ["cancel", 30, []],
  ["reset", 10, [INTERNAL]],
  ["refused", 10, [UNAVAILABLE]],
  ["calm", 10, [EXHAUSTED]],
  ["unavailable", 10, [UNAVAILABLE]],
  ["quota", 10, [EXHAUSTED]],
  ["missing", 10, [NOT_FOUND]],
  ["goaway", 10, [OK]],
  ["statusless", 5, [INTERNAL]],
  ["cut", 5, [INTERNAL]],
];
/** Who serves calls of this kind changes with the rules, so both may fail in their own way. */
const MOVING = [
  ["ok", 920, [OK]],
  ["slow", 50, [OK]],
  ["cancel", 30, []],
];
const FAULTS = { one: TRANSLATED, update: TRANSLATED, list: TRANSLATED, moving: MOVING };

function pick(table, at) {
  let rest = at * table.reduce((sum, [, share]) => sum + share, 0);
  for (const entry of table) {
    rest -= entry[1];
    if (rest < 0) return entry;
  }
  return table[0];
}

/** The paths and messages of the v1 rpcs and of v2, from the file `descriptors`. */
function errandsOf(descriptors) {
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(descriptors)));
  const groups = [...registry].find(({ kind, typeName }) => kind === "service" && typeName.endsWith(".iam.Groups"));
  const v1 = (name, json) => {
    const { input } = groups.methods.find((method) => method.name === name);
    return { path: `/${groups.typeName}/${name}`, message: toBinary(input, fromJson(input, json, { registry })) };
  };
  const v2 = (name) => ({ path: `/${groups.typeName.replace(/Groups$/, "v2beta1.GroupsService")}/${name}` });
  return (kind, tenant, id) => {
    if (kind === "update") return v1("Update", { id, name: `tenant-${tenant}-`, description: `by tenant-${tenant}-` });
    if (kind === "list") return v1("List", {});
    if (kind === "v2") return v2("GetGroup");
    if (kind === "watch") return v2("Watch");
    if (kind === "big") return v2("Big");
    return v1("List", { id });
  };
}

/** A crowd of clients before `url`; `random` decides what they send. `excused(began)`: whether a call since then may fail. */
export function createRpcLoad(url, descriptors, random, excused) {
  const errandOf = errandsOf(descriptors);
  const counts = {
    sent: 0,
    faults: 0,
    cancelled: 0,
    looked: 0,
    foreign: 0,
    lists: 0,
    short: 0,
    excused: 0,
    shed: 0,
    unexpected: 0,
  };
  const examples = [];
  const sessions = new Map();
  let open = 0;

  /** A client's connection, opened again where it has gone. */
  function sessionAt(index) {
    const old = sessions.get(index);
    if (old !== undefined && !old.closed && !old.destroyed) return old;
    const fresh = connect(url);
    fresh.on("error", () => {}).on("goaway", () => fresh.close());
    sessions.set(index, fresh);
    return fresh;
  }

  function nextCall() {
    const [kind] = pick(KINDS, random());
    const [fault, , codes] = pick(FAULTS[kind] ?? PASSED, random());
    const tenant = 1 + Math.floor(random() * TENANTS);
    const index = Math.floor(random() * RECORDS);
    const id = `${tenant.toString(16).padStart(40, "0")}/${index.toString(16).padStart(16, "0")}`;
    const told = fault === "cancel" ? (random() < 0.5 ? "late" : "ok") : fault;
    const leaveAfterMs = fault === "cancel" ? random() * 50 : undefined;
    return { kind, fault, codes, tenant, told, leaveAfterMs, ...errandOf(kind, tenant, id) };
  }

  function send({ kind, path, message = Buffer.from("asked"), tenant, told, leaveAfterMs }) {
    return new Promise((resolve) => {
      const stream = sessionAt(Math.floor(random() * SESSIONS)).request({
        ":method": "POST",
        ":path": path,
        "content-type": "application/grpc",
        te: "trailers",
        authorization: `Bearer t${tenant}.${told}`,
        ...(kind === "native" || kind === "moving" ? { "x-soak": kind } : {}),
      });
      const parts = [];
      let fields = {};
      const leaving = leaveAfterMs === undefined ? undefined : setTimeout(() => stream.close(8), leaveAfterMs);
      const said = (more) => {
        fields = { ...fields, ...more };
      };
      stream
        .on("response", said)
        .on("trailers", said)
        .on("error", () => {});
      stream.on("data", (piece) => parts.push(piece));
      stream.on("close", () => {
        clearTimeout(leaving);
        const status = fields["grpc-status"];
        resolve({
          status: status === undefined ? undefined : Number(status),
          fields,
          text: Buffer.concat(parts).toString("latin1"),
        });
      });
      const prefix = Buffer.from([0, 0, 0, 0, 0]);
      prefix.writeUInt32BE(message.length, 1);
      stream.end(Buffer.concat([prefix, message]));
    });
  }

  async function one() {
    const call = nextCall();
    open += 1;
    counts.sent += 1;
    if (call.fault !== "ok" && call.fault !== "slow") counts.faults += 1;
    const began = performance.now();
    try {
      const { status, fields, text } = await send(call);
      if (status === undefined && call.fault === "cancel") counts.cancelled += 1;
      else judge(call, status, `${JSON.stringify(fields)}${text}`, began);
    } catch (error) {
      wrong(call, error.message, began);
    } finally {
      open -= 1;
    }
  }

  function wrong({ kind, fault }, what, began) {
    if (excused(began)) {
      counts.excused += 1;
      return;
    }
    counts.unexpected += 1;
    if (examples.length < EXAMPLES) examples.push(`${kind} over gRPC, ${fault}: ${what}`);
  }

  function judge(call, status, text, began) {
    counts.looked += 1;
    const foreign = [...text.matchAll(/tenant-(\d+)-/g)].find(([, tenant]) => Number(tenant) !== call.tenant);
    if (foreign !== undefined) {
      counts.foreign += 1;
      counts.unexpected += 1;
      examples.push(`${call.kind}: ${foreign[0]} for tenant ${call.tenant}`);
      return;
    }
    const codes = call.fault === "cancel" ? [OK] : call.codes;
    if (
      status === UNAVAILABLE &&
      /more (?:requests|long lists) are waiting/.test(text) &&
      !codes.includes(UNAVAILABLE)
    ) {
      counts.shed += 1;
      return;
    }
    if (!codes.includes(status)) return wrong(call, `${status} ${text.slice(0, 300)}`, began);
    if (status !== OK) return;
    if (!text.includes(`tenant-${call.tenant}-`)) wrong(call, "a response without a record", began);
    if (call.kind !== "list") return;
    counts.lists += 1;
    const records = [...text.matchAll(/group \d+ of tenant-/g)].length;
    if (records === RECORDS) return;
    counts.short += 1;
    wrong(call, `${records} records of ${RECORDS}`, began);
  }

  return {
    counts,
    examples,
    /** `rate` calls a second, evenly, until `ms` are over, whatever the responses are. */
    async steady(ms, rate) {
      const started = performance.now();
      let begun = 0;
      while (performance.now() - started < ms) {
        const due = Math.floor(((performance.now() - started) * rate) / 1_000);
        for (; begun < due; begun += 1) void one();
        await sleep(TICK_MS);
      }
    },
    /** Resolves when nothing is under way any more, and closes all connections. */
    async end() {
      while (open > 0) await sleep(TICK_MS);
      for (const session of sessions.values()) session.destroy();
    },
  };
}
