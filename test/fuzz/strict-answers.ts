/**
 * Checks what a client receives: valid HTTP responses, each an upstream's own, a translated one, or an error in
 * carryover's shape.
 */
import { isJsonObject, type Json } from "../../src/model/json.ts";
import { PROBLEMS } from "../../src/model/problem.ts";

/** One final answer. */
export interface Read {
  readonly status: number;
  /** Names in lower case. */
  readonly fields: readonly (readonly [string, string])[];
  readonly body: string;
}

const STATUS = /^HTTP\/1\.1 (\d{3}) [\x20-\x7e]*$/;
const FIELD = /^([!#$%&'*+.^_`|~A-Za-z0-9-]+): ([\t\x20-\x7e\x80-\xff]*)$/;
const ONCE = ["content-length", "transfer-encoding", "content-type", "connection"];
/** No address and no text of a cause is ever shown. */
const LEAKS = /127\.0\.0\.1|localhost:|ECONN|UND_ERR|HPE_|undici|SyntaxError|TypeError|RangeError|node:|\bat \S+ \(/;

/** An answer that breaks HTTP or our own promises. */
export class BadAnswer extends Error {}

/** Every final answer in `text`, which ends where an answer ends unless the connection was `cut`. Throws BadAnswer. */
export function readAnswers(text: string, mayBeHead: boolean, cut: boolean): readonly Read[] {
  const answers: Read[] = [];
  for (let at = 0; at < text.length; ) {
    const found = readAnswer(text, at, mayBeHead);
    if (found === undefined) {
      if (!cut) throw new BadAnswer(`an answer without its end: ${JSON.stringify(text.slice(at, at + 300))}`);
      return answers;
    }
    if (found.read.status >= 200) answers.push(found.read);
    at = found.end;
  }
  return answers;
}

function readAnswer(text: string, start: number, mayBeHead: boolean): { read: Read; end: number } | undefined {
  const end = text.indexOf("\r\n\r\n", start);
  if (end < 0) return undefined;
  const [line = "", ...lines] = text.slice(start, end).split("\r\n");
  const status = Number(STATUS.exec(line)?.[1] ?? 0);
  if (status === 0) throw new BadAnswer(`no status line: ${JSON.stringify(line.slice(0, 300))}`);
  const fields = lines.map((each): [string, string] => {
    const [, name, value = ""] = FIELD.exec(each) ?? [];
    if (name === undefined) throw new BadAnswer(`a field that is none: ${JSON.stringify(each)}`);
    return [name.toLowerCase(), value];
  });
  for (const name of ONCE) {
    if (fields.filter(([each]) => each === name).length > 1) throw new BadAnswer(`${name} twice`);
  }
  const from = end + 4;
  const read = (body: string, to: number) => ({ read: { status, fields, body }, end: to });
  if (status < 200 || status === 204 || status === 304) return read("", from);
  const length = fields.find(([name]) => name === "content-length")?.[1];
  const isChunked = fields.some(([name, value]) => name === "transfer-encoding" && value === "chunked");
  if (length === undefined && !isChunked) {
    // Only the end of the connection ends it: HTTP/1.0 clients, and HEAD.
    return mayBeHead && text.startsWith("HTTP/1.1 ", from) ? read("", from) : read(text.slice(from), text.length);
  }
  if (length !== undefined && isChunked) throw new BadAnswer("two framings in an answer");
  // An answer to HEAD has its fields and no body; no body of ours, nor of the doubles, begins like an answer.
  if (mayBeHead && (from === text.length || text.startsWith("HTTP/1.1 ", from))) return read("", from);
  if (length !== undefined) {
    const to = from + Number(length);
    return text.length < to ? undefined : read(text.slice(from, to), to);
  }
  return unchunk(text, from, read);
}

function unchunk(
  text: string,
  start: number,
  read: (body: string, end: number) => { read: Read; end: number },
): { read: Read; end: number } | undefined {
  let body = "";
  for (let at = start; ; ) {
    const lineEnd = text.indexOf("\r\n", at);
    if (lineEnd < 0) return undefined;
    const digits = text.slice(at, lineEnd);
    if (!/^[0-9a-fA-F]+$/.test(digits)) throw new BadAnswer(`a chunk size that is none: ${JSON.stringify(digits)}`);
    const size = Number.parseInt(digits, 16);
    at = lineEnd + 2 + size;
    if (text.length < at + 2) return undefined;
    if (!text.startsWith("\r\n", at)) throw new BadAnswer("a chunk without its end");
    body += text.slice(lineEnd + 2, at);
    at += 2;
    if (size === 0) return read(body, at);
  }
}

/** True for what an upstream double answered, which says so. */
const isUpstreams = ({ fields }: Read): boolean => fields.some(([name]) => name === "x-upstream");

/** Throws BadAnswer for a response that no client may get, whatever it requested. `from`: who may have sent it, when it is an error. */
export function judgeAnswer(answer: Read, from: "carryover" | "anyone" = "carryover"): void {
  const { status, fields, body } = answer;
  if (isUpstreams(answer)) return;
  const where = `${status} ${JSON.stringify(body.slice(0, 300))}`;
  if (LEAKS.test(body)) throw new BadAnswer(`tells of the inside: ${where}`);
  if (status < 400) {
    judgeTranslated(answer, where);
    return;
  }
  if (fields.find(([name]) => name === "content-type")?.[1] !== "application/json") {
    throw new BadAnswer(`an error of no type: ${where}`);
  }
  if (body === "") return;
  const error = jsonOf(body, where);
  if (!isJsonObject(error)) throw new BadAnswer(`no error object: ${where}`);
  const { code, message, details } = error;
  // What a platform says with a code of the API is shown as it said it, however odd.
  if (from === "anyone" && Number.isInteger(code) && isNobodys(details)) return;
  if (typeof code !== "number" || typeof message !== "string" || !Array.isArray(details)) {
    throw new BadAnswer(`not v1's error: ${where}`);
  }
  const own = details.find((each) => isJsonObject(each) && each["domain"] === "carryover") as
    | { reason?: string }
    | undefined;
  if (own === undefined) {
    // A path or a method that v1 does not have is answered as the platform's gateway does: without details.
    if (status !== 501 && status !== 404) throw new BadAnswer(`nobody's error: ${where}`);
    return;
  }
  if (own.reason === "INTERNAL") throw new BadAnswer(`carryover's own mistake: ${where}`);
  if (!Object.hasOwn(PROBLEMS, own.reason ?? "")) throw new BadAnswer(`an unknown reason: ${where}`);
}

/** True for details without one of carryover's own. */
const isNobodys = (details: Json | undefined): boolean =>
  !Array.isArray(details) || !details.some((each) => isJsonObject(each) && each["domain"] === "carryover");

function judgeTranslated({ body, fields }: Read, where: string): void {
  if (body === "") return;
  if (fields.find(([name]) => name === "content-encoding") !== undefined) return;
  jsonOf(body, where);
}

function jsonOf(body: string, where: string): Json {
  try {
    return JSON.parse(Buffer.from(body, "latin1").toString()) as Json;
  } catch {
    throw new BadAnswer(`no JSON: ${where}`);
  }
}
