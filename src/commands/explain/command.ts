/** `carryover explain`: its options, and what it prints. */

import type { Command } from "commander";
import { type Catalogue, catalogueVersions, loadCatalogue, loadExamples } from "../../catalogue/catalogue.ts";
import { type AssumedConfig, assumedConfig, type Config } from "../../config/config.ts";
import { ConfigError } from "../../config/faults.ts";
import { Problem } from "../../model/problem.ts";
import { MASKED } from "../../model/secrets.ts";
import { createRouter, type Router } from "../../router/router.ts";
import type {
  AnswerMember,
  ExplainedCall,
  ExplainedCutover,
  ExplainedField,
  ExplainedParameter,
  ExplainedRisk,
  Explanation,
} from "../../runtime/explain/explanation.ts";
import { type AskedRequest, type GivenRequest, invalidRequest, readRequest } from "../../runtime/explain/request.ts";
import type { ExplainCutover } from "../../runtime/explain/rule.ts";
import { addConfigOptions, type CommandIo, type Outcome } from "../command.ts";
import { readMoment } from "../report/arguments.ts";
import { type Cell, column, type Paint, paintFor, printable, printableAll, table } from "../terminal.ts";

/** Beside the options of the configuration. */
interface ExplainFlags extends Readonly<Record<string, unknown>> {
  readonly request?: string;
  readonly header?: readonly string[];
  readonly data?: string;
  readonly json?: true;
  readonly curl?: true;
  readonly rules?: string;
  readonly client?: string;
  readonly at?: string;
}

const REFUSED = 1;
const USAGE = 2;

/** Its exit code: 0 explained, 1 carryover would refuse the request, 2 the request cannot be explained as given. */
export function addExplain(program: Command, io: CommandIo, outcome: Outcome): void {
  const command = program
    .command("explain")
    .description("tell what would become of a v1 request, without sending anything")
    .argument(
      "<request>",
      "'PUT /iam/v1/groups/UID', or a gRPC call (acme.iam.Groups/Update); - reads it from standard input",
    )
    .option("-d, --data <json>", "body of the request, or @file; @- is standard input")
    .option(
      "-H, --header <field>",
      "'Name: value'; may be repeated",
      (value, before: readonly string[] | undefined): readonly string[] => [...(before ?? []), value],
    )
    .option("-X, --request <method>", "method, where the request does not say it")
    .option("--json", "print one JSON document (docs/explain.md)")
    .option("--curl", "print the v2 calls as curl lines")
    .option("--rules <file>", "rules that say who serves it, in place of cutover.rulesFile")
    .option("--client <name>", "who sends it, as rules name clients; otherwise its header fields say it")
    .option("--at <instant>", "for that day or time instead of now: 2026-12-01T09:30Z, or 09:30 (UTC, today)")
    .exitOverride((error) => {
      if (error.exitCode !== 0) outcome.code = USAGE;
      throw error;
    });
  addConfigOptions(command);
  command.action(async (request: string, flags: ExplainFlags) => {
    try {
      outcome.code = await explainOnce(request, flags, io);
    } catch (error) {
      if (!(error instanceof ConfigError || error instanceof Problem)) throw error;
      io.warn(printable(error.message));
      outcome.code = USAGE;
    }
  });
}

/** Anyone who knows the bucket of a client knows the salt. */
const SALT = ["cutover.saltFile"];

async function explainOnce(text: string, flags: ExplainFlags, io: CommandIo): Promise<number> {
  const { json, curl, data, header = [], request: method } = flags;
  if (json === true && curl === true) throw invalidRequest("--json and --curl: give one of them");
  const given = {
    text: text === "-" ? Buffer.from(io.readStdin()).toString("utf8") : text,
    headers: header,
    ...(data === undefined ? {} : { data }),
    ...(method === undefined ? {} : { method: method.toUpperCase() }),
  };
  const read = (path: string) => readBody(path, io);
  const http = isRpc(given.text) ? undefined : readRequest(given, read);
  const assumed = assumedConfig(
    { flags, env: io.env, readFile: io.readFile },
    http === undefined ? [...SALT, "grpc.descriptors"] : SALT,
  );
  const { config, known } = assumed;
  const { version } = config.upstream.v2;
  const versions = await catalogueVersions();
  if (!versions.includes(version))
    throw invalidRequest(`upstream.v2.version: known versions are ${versions.join(", ")}`);
  const { createExplain } = await import("../../runtime/explain/explain.ts");
  const catalogue = await loadCatalogue(version);
  const { extraPrefixes } = config.listen;
  const route = createRouter({ ...catalogue, extraPrefixes });
  const request = http ?? (await readRpc(given, read, { config, catalogue, route }));
  const cutover = await cutoverOf(flags, assumed, catalogue, io);
  const explanation = await createExplain(
    config,
    catalogue,
    await loadExamples(version),
    cutover,
  )(request, flags.client);
  const addresses = upstreamAddresses(config, known);
  const shown = printableAll(explanation);
  if (json === true) io.print(printable(JSON.stringify(explanation, null, 2)));
  else io.print(curl === true ? curlLines(shown, addresses) : explanationText(shown, addresses, paintFor(io)));
  return explanation.refusal === null ? 0 : REFUSED;
}

/** The file of `@file`, from the working directory; `@-` is standard input. */
function readBody(path: string, io: CommandIo): Uint8Array {
  if (path === "-") return io.readStdin();
  try {
    return io.readFile(path);
  } catch (error) {
    throw invalidRequest(`${path} cannot be read (${error instanceof Error ? error.message : String(error)})`);
  }
}

/** Undefined where everything is translated: there are no rules. */
async function cutoverOf(
  { rules, at, client }: ExplainFlags,
  { config, known, modeKnown }: AssumedConfig,
  catalogue: Catalogue,
  io: CommandIo,
): Promise<ExplainCutover | undefined> {
  const { rulesFile, mode } = config.cutover;
  const hasRules = rules !== undefined || rulesFile !== undefined || mode !== "translate";
  if (!hasRules && (at !== undefined || client !== undefined))
    throw invalidRequest("--client and --at are about rules: name their file with --rules");
  // With native v1, guessed operations stay there also without rules.
  if (!hasRules && config.upstream.v1 === undefined) return undefined;
  const [{ cutoverFromConfig }, { readGivenRules }] = await Promise.all([
    import("../../runtime/explain/rule.ts"),
    import("../../rollout/rules-file.ts"),
  ]);
  const now = at === undefined ? Date.now() : readMoment(at, "--at", Date.now(), "today");
  const given = readGivenRules({
    file: rules,
    config,
    catalogue,
    readFile: io.readFile,
    now,
    expired: "warn",
    // Without the address of v2 no configuration was given: it cannot lack the address of v1.
    native: known ? undefined : true,
  });
  const when = at === undefined ? "" : ` at ${new Date(now).toISOString()} (--at)`;
  for (const warning of given?.warnings ?? []) io.warn(printable(`warning${when}: ${warning}`));
  if (hasRules && !known) {
    const mode = modeKnown ? "" : ", and requests that no rule takes count as translated";
    io.warn(
      `warning: without a configuration the client's bucket is that of an empty cutover.salt${mode}; name the running carryover's with --config`,
    );
  } else if (!modeKnown) {
    io.warn("warning: cutover.mode is not set, and serve requires it: requests that no rule takes count as translated");
  }
  return cutoverFromConfig(config, given?.rules, now);
}

/** For each upstream an address without a slash at its end, or a shell variable in its place. */
interface UpstreamAddresses {
  readonly v1: string;
  readonly v2: string;
  readonly sts: string;
}

/** `known`: whether the address of v2 was configured; without it, it is `$V2`. */
function upstreamAddresses({ upstream }: Pick<Config, "upstream">, known: boolean): UpstreamAddresses {
  const { v1, v2, sts } = upstream;
  const bare = (url: string) => url.replace(/\/+$/, "");
  return {
    v1: v1 === undefined ? "$V1" : bare(v1.url),
    v2: known ? bare(v2.url) : "$V2",
    sts: sts === undefined ? "$STS" : bare(sts.url),
  };
}

export function explanationText(explanation: Explanation, addresses: UpstreamAddresses, paint: Paint): string {
  const { request, summary, refusal, mode, cutover, calls, translated } = explanation;
  const heading = [
    paint("bold", `${request.method} ${request.target}`),
    paint(mode === "refused" ? "red" : "green", summary),
    ...(refusal === null ? [] : [`${refusal.status} ${refusal.reason}, code ${refusal.code}: ${refusal.message}`]),
  ];
  const then = isElsewhere(explanation) ? ", if it were translated" : "";
  const linesOf = (made: readonly ExplainedCall[]) =>
    made.flatMap((call, index) => callLines(call, index + 1, addresses, paint));
  const sections: readonly (readonly [title: string, lines: readonly string[]])[] = [
    ["Rules", cutover === null ? [] : ruleLines(cutover, paint)],
    ["Calls", linesOf(calls)],
    ["Calls, if it were translated", linesOf(translated)],
    [`Query${then}`, table(parameterCells(explanation.parameters), paint)],
    [`Body${then}`, table(fieldCells(explanation.fields), paint)],
    [`Answer${then}`, answerLines(explanation, paint)],
    [`What can go wrong${then}`, table(explanation.risks.map(riskCells), paint)],
    ["Notes", explanation.notes.map((note) => `  ${note}`)],
  ];
  const texts = sections.filter(([, lines]) => lines.length > 0);
  return [heading, ...texts.map(([title, lines]) => [paint("bold", title), ...lines])]
    .map((lines) => lines.join("\n"))
    .join("\n\n");
}

/** Native v1 serves what could be translated: the rules say so. */
function isElsewhere({ cutover }: Explanation): boolean {
  return cutover !== null && cutover.mode !== "translate";
}

function ruleLines({ client, bucket, at, says, rules }: ExplainedCutover, paint: Paint): string[] {
  const cells = rules.map(({ name, line, mode, matched, why }) => [
    column(name),
    column(mode),
    matched ? ({ text: "takes it", style: "green" } as const) : ({ text: "passed over", style: "dim" } as const),
    column(why),
    { text: `line ${line}`, style: "dim" } as const,
  ]);
  const head = `  client ${client}, bucket ${bucket.toFixed(1)}, at ${at}`;
  if (rules.length === 0) return [head, "  no rules were read: --rules FILE names their file", `  ${says}`];
  const limits =
    "  by the file alone: carryover events tells which rules had stepped back, and whether a mode was forced";
  return [head, ...table(cells, paint), `  ${says}`, limits];
}

function callLines(call: ExplainedCall, number: number, addresses: UpstreamAddresses, paint: Paint): string[] {
  const indent = "     ";
  return [
    `  ${number}  ${paint("cyan", call.method)} ${addresses[call.upstream]}${call.target}`,
    ...(call.body === null ? [] : [`${indent}${call.body}`]),
    `${indent}${call.purpose}`,
    ...call.also.map((also) => `${indent}${also}`),
    ...(call.assuming === "" ? [] : [paint("dim", `${indent}assuming: ${call.assuming}`)]),
  ];
}

const NOTEWORTHY: ReadonlySet<string> = new Set(["set-to-zero", "left-alone", "dropped", "kept", "ignored", "cut"]);

function outcomeCell(becomes: string): Cell {
  const style = becomes === "refused" ? "red" : NOTEWORTHY.has(becomes) ? "yellow" : "green";
  return { text: becomes.replaceAll("-", " "), style };
}

function fieldCells(fields: readonly ExplainedField[]): Cell[][] {
  return fields.map(({ v1, v2, becomes, given, sent, why }) => {
    const before = given === null ? "" : `${shortened(given)} -> `;
    const value = sent === null || sent === given ? "" : before + shortened(sent);
    return [column(v1), column(v2 ?? "–"), outcomeCell(becomes), column(value), column(why)];
  });
}

function parameterCells(parameters: readonly ExplainedParameter[]): Cell[][] {
  return parameters.map(({ v1, given, sent, becomes, why }) => {
    return [column(given === null ? v1 : `${v1}=${given}`), column(sent ?? "–"), outcomeCell(becomes), column(why)];
  });
}

function answerLines(explanation: Explanation, paint: Paint): string[] {
  const { answer, mode, refusal } = explanation;
  const elsewhere = isElsewhere(explanation);
  if (refusal !== null || (mode !== "translate" && !elsewhere)) return [];
  const calls = elsewhere ? explanation.translated : explanation.calls;
  if (answer.length === 0) return calls.some(({ method }) => method === "DELETE") ? ["  {}"] : [];
  const shown = answer.filter(({ becomes }) => becomes !== "cut");
  const cut = answer.flatMap(({ becomes, v2 }) => (becomes === "cut" ? v2 : []));
  const heading = ["v1", "v2", "", "when v2 leaves it out"].map((text): Cell => ({ text, style: "dim" }));
  return [
    ...table([heading, ...shown.map(answerCells)], paint),
    ...(cut.length === 0 ? [] : [`  not shown, as in v1: ${cut.join(", ")}`]),
  ];
}

function answerCells({ v1, v2, becomes, why, absent }: AnswerMember): Cell[] {
  const from = v2.length === 0 ? "–" : v2.join(" or ");
  // Put together: each of its members has a line of its own.
  const isWhole = becomes === "joined" || (becomes === "moved" && v2.length === 0);
  return [
    column(v1 ?? ""),
    column(from),
    outcomeCell(becomes),
    column(becomes === "moved" && isWhole ? "–" : (absent ?? (isWhole ? "–" : "absent"))),
    column(why),
  ];
}

function riskCells({ status, reason, when }: ExplainedRisk): Cell[] {
  const error = status === null ? "" : `${status} ${reason ?? ""}`;
  return [{ text: error, style: "red" }, column(when)];
}

/** Long values are in the call's body anyway. */
function shortened(text: string): string {
  return text.length <= 40 ? text : `${text.slice(0, 39)}…`;
}

/** Lines for a shell in which TOKEN is set (and V2, where no address is known), each after comments about its call. */
export function curlLines({ calls, translated, refusal }: Explanation, addresses: UpstreamAddresses): string {
  if (refusal !== null) return comment(`nothing is sent: ${refusal.status} ${refusal.reason}: ${refusal.message}`);
  const made = linesOf(calls, addresses);
  return translated.length === 0
    ? made
    : [made, comment("if it were translated:"), linesOf(translated, addresses)].join("\n\n");
}

function linesOf(calls: readonly ExplainedCall[], addresses: UpstreamAddresses): string {
  return calls.map((call, index) => [...remarks(call, index + 1), curlOf(call, addresses)].join("\n")).join("\n\n");
}

function remarks(call: ExplainedCall, number: number): string[] {
  const assuming = call.assuming === "" ? [] : [`assuming: ${call.assuming}`];
  const masked = JSON.stringify([call.target, call.body]).includes(MASKED);
  const secrets = masked ? [`secrets are not shown: put them where ${MASKED} stands`] : [];
  return [`${number}: ${call.purpose}`, ...call.also, ...assuming, ...secrets].map(comment);
}

/** A comment cannot be left by what stands in it. */
function comment(text: string): string {
  return `# ${text.replaceAll(/[\r\n]+/g, " ")}`;
}

function curlOf({ method, target, headers, body, upstream }: ExplainedCall, addresses: UpstreamAddresses): string {
  const lines = [`curl -sS${method === "GET" ? "" : ` -X ${method}`} ${address(addresses[upstream], target)}`];
  if (upstream !== "sts") lines.push('-H "Authorization: Bearer $TOKEN"');
  for (const [name, value] of headers) {
    if (name !== "authorization" && !value.includes(MASKED)) lines.push(`-H ${shellQuoted(`${name}: ${value}`)}`);
  }
  if (body !== null) lines.push(`--data-raw ${shellQuoted(body)}`);
  return lines.join(" \\\n  ");
}

/** A variable must be seen by the shell, and nothing else may. */
function address(base: string, target: string): string {
  return base.startsWith("$") ? `"${base}"${shellQuoted(target)}` : shellQuoted(base + target);
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

const RPC = /^\/?((?:\w+\.)+\w+)\/(\w+)$/;

/** True for `acme.platform.iam.Groups/List`. */
function isRpc(text: string): boolean {
  return RPC.test(text.trim());
}

/** `given.data`: the message in JSON. Throws `Problem` INVALID_REQUEST for what the descriptors do not have. */
async function readRpc(
  given: GivenRequest,
  read: (path: string) => Uint8Array,
  { config, catalogue, route }: { readonly config: Config; readonly catalogue: Catalogue; readonly route: Router },
): Promise<AskedRequest> {
  const [, service, method] = RPC.exec(given.text.trim()) ?? [];
  const name = `${service}/${method}`;
  const { descriptorsOf, domainsOf } = await import("../../grpc/port.ts");
  const { bytesOfJson, decodeRequest, jsonOfRequest, requestOf } = await import("../../grpc/transcode.ts");
  const descriptors = descriptorsOf(config, { domains: domainsOf(catalogue), route });
  if (descriptors === undefined) throw invalidRequest(`${name}: set grpc.descriptors to explain gRPC calls`);
  const rpc = descriptors.rpcs.get(`/${name}`);
  if (rpc === undefined) throw invalidRequest(`${name}: grpc.descriptors has no such rpc of the API`);
  if (rpc.bindings.length === 0) throw invalidRequest(`${name} has no HTTP rule, so carryover does not translate it`);
  // A text that is no path takes body and header fields as any other request does.
  const { headers, body } = readRequest({ ...given, text: "POST /" }, read);
  const json = body.length === 0 ? "{}" : Buffer.from(body).toString();
  const message = decodeRequest(rpc, bytesOfJson(rpc, json, descriptors.registry));
  const http = requestOf(rpc, jsonOfRequest(rpc, message, descriptors.registry));
  return { ...http, headers, notes: [`${name} over gRPC is this request over HTTP`] };
}
