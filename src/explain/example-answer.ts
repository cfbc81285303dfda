/** What do the catalogue's examples say that the platform answers? (With the uid that is asked for, not the example's.) */
import type { Example } from "../model/example.ts";
import { isJsonObject, type Json, type JsonObject } from "../model/json.ts";
import type { Match } from "../model/match.ts";
import type { ApiRequest } from "../model/message.ts";
import type { Resource } from "../model/resource.ts";
import { type Paths, type Place, placeOf } from "./place.ts";

/** The fullest record among the examples, best of the operation itself. */
export function recordOf(resource: Resource, operation: string | undefined): JsonObject {
  const answers = resource.examples.filter((example) => example.of === "answer");
  const own = answers.filter((example) => example.operation === operation);
  const fullest = [...(own.length > 0 ? own : answers)].sort((a, b) => sizeOf(b.v2) - sizeOf(a.v2))[0];
  return { uid: "0".repeat(16), ...fullest?.v2 };
}

function sizeOf(value: JsonObject): number {
  return JSON.stringify(value).length;
}

/** What a verb of its own answers: as an example of an answer has it, else nothing but the uid in the path. */
export function verbAnswer(match: Match | undefined): Json {
  if (match === undefined) return {};
  const answers = match.resource.examples.filter((example) => example.of === "answer");
  const found = answers.find(({ operation }) => operation === match.operation.name);
  return found === undefined ? { uid: match.uid } : aboutUid(found.v2, found.v2["uid"], match.uid);
}

/** The answer of the example that shows this very call of the operation; undefined when none does. */
export function exchangeAnswer(
  { method, target }: ApiRequest,
  place: Place,
  match: Match | undefined,
  paths: Paths,
): Json | undefined {
  if (match === undefined || (place.kind !== "other" && place.kind !== "part")) return undefined;
  const prefix = `/${match.resource.domain}/${paths.version}/`;
  const tail = tailOf(target.slice(prefix.length));
  const exchanges = match.resource.examples.filter(
    (example): example is Example & { of: "exchange" } =>
      example.of === "exchange" && example.operation === match.operation.name && (example.status ?? 200) === 200,
  );
  for (const { calls } of exchanges) {
    for (const { call, status, answer } of calls) {
      const [shownMethod, path = ""] = call.split(" ");
      if ((status ?? 200) !== 200 || shownMethod !== method || tailOf(path) !== tail) continue;
      return aboutUid(answer, placeOf(prefix + path, paths).uid, place.uid);
    }
  }
  return undefined;
}

/** What tells paths apart that lead to different records: the verb, or the last segment. */
function tailOf(path: string): string {
  const plain = path.split("?")[0] ?? "";
  const last = plain.slice(plain.lastIndexOf("/") + 1);
  const colon = last.lastIndexOf(":");
  return colon < 0 ? last : last.slice(colon);
}

/** `answer` with `uid` wherever it speaks of `shown`, or of what lies below that. */
function aboutUid(answer: Json, shown: Json | undefined, uid: string): Json {
  if (typeof shown !== "string" || shown === "" || uid === "") return answer;
  const rewrite = (value: Json): Json => {
    if (typeof value === "string") {
      return value === shown || value.startsWith(`${shown}/`) ? uid + value.slice(shown.length) : value;
    }
    if (Array.isArray(value)) return value.map(rewrite);
    if (!isJsonObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, held]) => [name, rewrite(held)]));
  };
  return rewrite(answer);
}
