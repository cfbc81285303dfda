/** Finds requests that a front and carryover read differently, and effects of one client's bytes on another. */
import { isForbidden } from "../../fuzz/strict-upstream.ts";
import type { Platform } from "./platform.ts";
import type { Outcome } from "./send.ts";
import type { Tap } from "./tap.ts";
import { type Read, readStream, valuesOf } from "./wire.ts";

/** On the way from the front to carryover, and at the platform. */
export interface Seen {
  readonly tap: Pick<Tap, "connections">;
  readonly platform: Platform;
}

/** In words, one for each fault; none when all is well. */
export function faultsOf({ tap, platform }: Seen, outcomes: readonly Outcome[]): string[] {
  const written = new Map<string, Read>();
  const faults: string[] = [...platform.odd.map((what) => `the platform was sent ${what}`)];
  for (const { asked } of tap.connections) {
    for (const request of readStream(asked).requests) {
      const id = valuesOf(request, "x-front-id").join();
      if (id === "" || written.has(id))
        faults.push(`a front wrote ${request.method} ${request.target} with id "${id}"`);
      written.set(id, request);
    }
  }
  const seen = new Set<string>();
  for (const [number, request] of platform.requests.entries()) {
    const id = valuesOf(request, "x-front-id").join();
    const meant = written.get(id);
    const sent = outcomes.find(({ arrived }) => arrived > number)?.name ?? "the last";
    const about = `${request.method} ${request.target} of ${JSON.stringify(sent)}`;
    if (meant === undefined) faults.push(`smuggled: ${about}`);
    else {
      if (seen.has(id) && !isTranslated(meant)) faults.push(`twice: ${about}`);
      seen.add(id);
      faults.push(...differences(meant, request, platform.url).map((what) => `${about}: ${what}`));
    }
  }
  for (const { name, next } of outcomes) {
    const [, body = ""] = next.text.split("\r\n\r\n");
    if (!body.includes(`"target":"${next.target}"`)) {
      faults.push(`behind ${JSON.stringify(name)} the next client got ${JSON.stringify(next.text.slice(0, 300))}`);
    }
  }
  return faults;
}

const V1 = /^\/(?:iam|registry|vulnerabilities)\/v1\//;
/** v1 that carryover serves itself: other methods and targets, perhaps several requests. */
const isTranslated = ({ target }: Read): boolean => V1.test(decoded(target));

function decoded(target: string): string {
  return target.replaceAll(/%([0-9A-Fa-f]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Those of a client that every recipe takes away. */
const FORGED: ReadonlySet<string> = new Set(
  [
    ...["port", "prefix", "server", "scheme", "ssl", "uri", "method"],
    ...["user", "email", "groups", "preferred-username", "access-token", "client-cert"],
  ].map((name) => `x-forwarded-${name}`),
);

/** What arrived at the platform beside what the front wrote. */
function differences(meant: Read, came: Read, platformUrl: string): string[] {
  const found: string[] = [];
  const expectOne = (name: string, value: string | undefined): void => {
    const values = valuesOf(came, name);
    const wanted = value === undefined ? [] : [value];
    if (values.join("\n") !== wanted.join("\n") || values.length !== wanted.length) {
      found.push(`${name} is ${JSON.stringify(values)}, not ${JSON.stringify(wanted)}`);
    }
  };
  const { method, target } = meant;
  const stamp = valuesOf(meant, "x-front-read").join();
  if (stamp !== `${method} ${target}`) found.push(`the front read ${stamp} and wrote ${method} ${target}`);
  if (!isTranslated(meant) && (came.method !== method || came.target !== target)) {
    found.push(`the front wrote ${method} ${target}`);
  }
  if (!isTranslated(meant) && came.body !== meant.body) found.push("another body than the front wrote");
  expectOne("host", new URL(platformUrl).host);
  expectOne("x-forwarded-for", "127.0.0.1, 127.0.0.1");
  expectOne("x-forwarded-proto", "http");
  expectOne("x-forwarded-host", valuesOf(meant, "host")[0]);
  for (const [name] of came.fields) {
    if (isForbidden(name)) found.push(`a field ${name}`);
    if (FORGED.has(name)) found.push(`a field ${name} that a client set`);
  }
  return found;
}
