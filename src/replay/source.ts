/** Which requests of recordings are replayed, in an order that is the same each time. */
import { createHash } from "node:crypto";
import { isRedacted } from "../recording/entry.ts";
import type { Found, LogFormat } from "../recording/found.ts";
import type { ReplaySides } from "./sides.ts";
import { addReason, type CountedReason, type TalliedRequest } from "./tally.ts";

/** One request to replay. */
export interface ReplayEntry extends TalliedRequest {
  /** Its place among all that are replayed, from 0. */
  readonly index: number;
  /** As recorded; 0: not known. */
  readonly status: number;
  readonly body?: string | undefined;
}

export interface SourceOptions {
  readonly files: readonly string[];
  read(file: string): AsyncIterable<Found>;
  readonly kindOf: ReplaySides["kindOf"];
  /** Share of the requests that is replayed. */
  readonly sample: number;
  /** Only of clients with such a name. */
  readonly client: string | undefined;
  /** `listen.basePath`, which logs of a proxy in front have before each path. */
  readonly basePath: string;
  /** False: requests of this client are left out, for want of a token. */
  hasToken(client: string): boolean;
}

/** The contents of the files. */
export interface SourceCount {
  /** Requests, replayed or not. */
  requests: number;
  selected: number;
  /** Requests that are not replayed. */
  readonly skipped: CountedReason[];
  /** Lines that cannot be read. */
  readonly unread: CountedReason[];
  /** Requests that a recording says it lacks. */
  left: number;
  readonly formats: Set<LogFormat>;
}

export function newSourceCount(): SourceCount {
  return { requests: 0, selected: 0, skipped: [], unread: [], left: 0, formats: new Set() };
}

/** Counts everything in `count`, and yields what is to be replayed. Throws RecordingRefused. */
export async function* replayedRequests(options: SourceOptions, count: SourceCount): AsyncGenerator<ReplayEntry> {
  for (const file of options.files) {
    for await (const found of options.read(file)) {
      if (found.kind === "gap") count.left += found.left;
      if (found.kind === "skipped") addReason(count.unread, found.why, `${file}:${found.at.line}:${found.at.column}`);
      if (found.kind !== "request") continue;
      const { request, at } = found;
      const place = `${file}:${at.line}`;
      count.requests += 1;
      count.formats.add(found.format);
      const target = withoutBase(request.target, options.basePath);
      const why = whyNot(found, options);
      const kind = why === undefined ? options.kindOf(request.method, target) : undefined;
      if (kind === undefined || kind.kind === "skip") {
        addReason(count.skipped, why ?? (kind?.kind === "skip" ? kind.why : ""), place);
        continue;
      }
      const { method, client, status, body } = request;
      const unwritable = kind.kind === "write" ? whyNotWritten(method, body) : undefined;
      if (unwritable !== undefined) addReason(count.skipped, unwritable, place);
      else yield { index: count.selected++, at: place, method, target, client, status, kind, body };
    }
  }
}

function whyNot({ request }: Found & { readonly kind: "request" }, options: SourceOptions): string | undefined {
  const { sample, client } = options;
  if (client !== undefined && !isNamed(request.client, client)) return "of another client (--client)";
  if (sample < 1 && shareOf(request) >= sample) return "not in the sample (--sample)";
  if (isRedacted(request.target)) return "a value was redacted when it was recorded (record.values)";
  return options.hasToken(request.client) ? undefined : "there is no token for this client (--token-file)";
}

function whyNotWritten(method: string, body: string | undefined): string | undefined {
  if (body === undefined) return method === "DELETE" ? undefined : "a write without its body (record.bodies)";
  return isRedacted(body) ? "a secret in its body was redacted when it was recorded" : undefined;
}

/** `ci-*`: names that begin so. */
function isNamed(name: string, wanted: string): boolean {
  return wanted.endsWith("*") ? name.startsWith(wanted.slice(0, -1)) : name === wanted;
}

/** From 0 up to 1: the same for the same request of the same time, wherever it is recorded. */
function shareOf({
  at,
  method,
  target,
  client,
}: {
  at: number | undefined;
  method: string;
  target: string;
  client: string;
}): number {
  const digest = createHash("sha256")
    .update(`${at ?? ""} ${method} ${target} ${client}`)
    .digest();
  return digest.readUIntBE(0, 6) / 2 ** 48;
}

function withoutBase(target: string, basePath: string): string {
  return basePath !== "" && target.startsWith(`${basePath}/`) ? target.slice(basePath.length) : target;
}
