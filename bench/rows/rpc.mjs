/** Measures what a gRPC call costs: passed through beside a bare relay, and translated beside the same request over HTTP. */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createFileRegistry, fromBinary, fromJsonString, toBinary, toJson } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { freePorts } from "../../scripts/free-ports.mjs";
import { goal, range, ratios, spread, table } from "../figures.mjs";
import { startCarryover, startClient, startPeer } from "../processes.mjs";

export async function measureRpc(bench, start) {
  const { settings, wants } = bench;
  const races = (await line(bench, start)).filter(({ key }) => wants(key));
  const faults = [];
  for (let round = -1; round < settings.rpc.rounds; round++) {
    for (const one of races) {
      for (const side of round % 2 === 0 ? [one.own, one.peer] : [one.peer, one.own]) {
        const before = side.server.cpuMs();
        const { requests, failed, perSecond } = await side.fire(
          round < 0 ? settings.rpc.warmupSeconds : settings.rpc.seconds,
        );
        const cpuUs = ((side.server.cpuMs() - before) * 1000) / requests;
        if (failed > 0 || requests === 0)
          faults.push(`${one.what}, ${side.name}: ${failed} of ${requests} calls failed`);
        if (round >= 0) side.samples.push({ cpuUs, perSecond });
        // Connections of this turn close before the next one begins.
        await sleep(100);
      }
    }
  }
  return { goals: races.map(goalOf), text: text(races, settings.rpc), faults };
}

/** The two races, their answers checked. */
async function line({ dist, folder, answers, calls, descriptors, load, settings, token }, start) {
  const files = join(folder, "rpc");
  await mkdir(files, { recursive: true });
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, descriptors));
  const v2 = methodOf(registry, /\.iam\.v2beta1\.GroupsService$/, "GetGroup");
  const v1 = methodOf(registry, /\.iam\.Groups$/, "List");
  const uid = calls.v2Get.split("/groups/")[1];
  const message = framed(toBinary(v2.output, fromJsonString(v2.output, answers[calls.v2Get].body, { registry })));
  const request = (method) =>
    framed(toBinary(method.input, fromJsonString(method.input, JSON.stringify(asked(method, uid)))));
  await Promise.all([
    writeFile(join(files, "message"), message),
    writeFile(join(files, "answers.json"), JSON.stringify(answers)),
    writeFile(join(files, "api.binpb"), descriptors),
  ]);
  const http = await start(startPeer("upstream", [join(files, "answers.json")]));
  const rpc = await start(startPeer("rpc-upstream", [join(files, "message")]));
  const relay = await start(startPeer("rpc-relay", [rpc.url]));
  const [port] = await freePorts(1);
  const flags = {
    "listen-grpc-port": port,
    "grpc-descriptors": join(files, "api.binpb"),
    "upstream-v2-grpc-url": rpc.url,
  };
  const own = await start(startCarryover(dist, { upstream: http.url, log: join(files, "log"), flags }));
  const client = await start(startClient("rpc"));
  const { connections, calls: atATime } = settings.rpc;
  const over = (name, server, url, method) => ({
    name,
    server,
    samples: [],
    fire: (seconds) =>
      client.ask({
        ...{ do: "fire", url, token, connections, calls: atATime, seconds },
        path: `/${method.parent.typeName}/${method.name}`,
        message: request(method).toString("base64"),
      }),
  });
  const rpcUrl = `http://127.0.0.1:${port}`;
  const overHttp = {
    name: "carryover, HTTP",
    server: own,
    samples: [],
    fire: (seconds) =>
      load.fire(own.url + calls.v1ById, token, { connections: connections * atATime, seconds: Math.ceil(seconds) }),
  };
  const races = [
    {
      ...{
        key: "rpc-pass",
        what: "v2 gRPC call passed through, processor time",
        against: "bare relay on node:http2",
        target: 1.3,
      },
      own: over("carryover", own, rpcUrl, v2),
      peer: over("relay", relay, relay.url, v2),
    },
    {
      ...{
        key: "rpc-get",
        what: "v1 get over gRPC, translated, processor time",
        against: "the same over HTTP",
        target: 1.5,
      },
      own: over("carryover, gRPC", own, rpcUrl, v1),
      peer: overHttp,
    },
  ];
  await checkAnswers(races, { registry, message, v1, url: own.url + calls.v1ById, token });
  return races;
}

const asked = (method, uid) =>
  method.name === "List" ? { id: decodeURIComponent(uid) } : { uid: decodeURIComponent(uid) };

/** Throws when a side answers something else than the race is about. */
async function checkAnswers([pass, get], { registry, message, v1, url, token }) {
  for (const side of [pass.own, pass.peer]) {
    const { answer, failed } = await side.fire(0.1);
    if (failed > 0 || !message.equals(Buffer.from(answer, "base64"))) throw new Error(`${side.name} changes bytes`);
  }
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
  const wanted = fromJsonString(v1.output, await response.text(), { registry, ignoreUnknownFields: true });
  const { answer } = await get.own.fire(0.1);
  const got = fromBinary(v1.output, Buffer.from(answer, "base64").subarray(5));
  const [mine, theirs] = [got, wanted].map((one) => JSON.stringify(toJson(v1.output, one, { registry })));
  if (mine !== theirs || wanted.items.length !== 1) throw new Error(`gRPC answers ${mine}, HTTP ${theirs}`);
}

function methodOf(registry, service, name) {
  for (const one of registry) {
    const found =
      one.kind === "service" && service.test(one.typeName) && one.methods.find((method) => method.name === name);
    if (found) return found;
  }
  throw new Error(`the sandbox describes no ${name} of ${service}`);
}

function framed(bytes) {
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([prefix, bytes]);
}

const cpu = ({ own, peer }) => [own, peer].map(({ samples }) => samples.map((sample) => sample.cpuUs));

function goalOf(race) {
  const ratio = ratios(...cpu(race));
  const [own, peer] = cpu(race).map((side) => Math.min(...side));
  const { key, what, against, target } = race;
  const texts = { unit: "×", value: ratio.median, text: `${range(ratio, 2)}×` };
  return goal({ key, what, against, target, least: true, ...texts, gate: peer / own });
}

function text(races, { rounds, seconds, connections, calls }) {
  const rows = races.flatMap(({ what, own, peer }) =>
    [own, peer].map(({ name, samples }) => [
      what.replace(", processor time", ""),
      name,
      range(spread(samples.map(({ cpuUs }) => cpuUs)), 0),
      range(spread(samples.map(({ perSecond }) => perSecond)), 0),
    ]),
  );
  return [
    `Median of ${rounds} rounds of ${seconds} s a side (least to most), ${calls} calls at a time over each of ${connections} connections; over HTTP one request at a time over ${connections * calls}. v1 has no rpc for one group: the call is its list by id. carryover counts and logs every call, the relay does nothing of the kind.`,
    table(["call", "side", "processor time, µs a call", "calls a second"], rows),
  ].join("\n\n");
}
