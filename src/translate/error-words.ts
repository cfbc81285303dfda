/** Which words of a v2 error are names that v1 spelled otherwise? (Design: errors; specification section 7.) */
import type { MemberPlan, ObjectPlan } from "../json/plan.ts";
import { rewriteValue } from "../json/rewrite.ts";
import { member } from "../model/json.ts";

/** v2 field names (dotted, both spellings) to v1's. */
type Names = ReadonlyMap<string, string>;

/** The edits of an error body: names only; everything else, unknown details too, stays byte for byte. */
export function errorPlan(names: Names): ObjectPlan {
  const badRequest = badRequestPlan(names);
  return {
    kind: "object",
    members: new Map<string, MemberPlan>([
      ["message", converted((text) => v1Message(text, names))],
      [
        "details",
        { value: { kind: "array", items: { kind: "convert", convert: (raw) => v1Detail(raw, badRequest) } } },
      ],
    ]),
  };
}

function badRequestPlan(names: Names): ObjectPlan {
  const violation: ObjectPlan = {
    kind: "object",
    members: new Map([["field", converted((field) => v1Field(field, names))]]),
  };
  return {
    kind: "object",
    members: new Map<string, MemberPlan>([["fieldViolations", { value: { kind: "array", items: violation } }]]),
  };
}

function converted(convert: (text: string) => string): MemberPlan {
  return { value: { kind: "convert", convert: (raw) => convertString(raw, convert) } };
}

/** A detail in v1's words, as far as its type is known to hold any. */
function v1Detail(raw: Uint8Array, badRequest: ObjectPlan): Uint8Array {
  const type = member(JSON.parse(Buffer.from(raw).toString("utf8")), "@type");
  if (typeof type !== "string") return raw;
  if (type.endsWith("/google.rpc.BadRequest")) return rewriteValue(raw, badRequest).bytes;
  return VERSIONED_TYPE.test(type) ? rewriteValue(raw, RETYPED).bytes : raw;
}

/** The one detail whose type names the version (trap T51): v1's package of it has no version segment. */
const VERSIONED_TYPE = /\.v2[a-z0-9]*(?=\.TermsNotAcceptedDetail$)/;
const RETYPED: ObjectPlan = {
  kind: "object",
  members: new Map([["@type", converted((type) => type.replace(VERSIONED_TYPE, ""))]]),
};

function convertString(raw: Uint8Array, convert: (text: string) => string): Uint8Array | string {
  const text: unknown = JSON.parse(Buffer.from(raw).toString("utf8"));
  if (typeof text !== "string") return raw;
  const converted = convert(text);
  return converted === text ? raw : JSON.stringify(converted);
}

/** No row lies deeper; a longer path is only looked at so far. */
const DEEPEST = 16;
const LONGEST = 1_000;

/** `role_uid` → `role`; the longest known prefix of a nested path is renamed, the rest and every `[index]` kept. */
function v1Field(field: string, names: Names): string {
  if (field.length > LONGEST) return field;
  // A dot in brackets belongs to the user's key.
  const parts = field.split(/\.(?![^[]*\])/);
  const plain = parts.slice(0, DEEPEST).map((part) => part.replace(/\[.*$/, ""));
  for (let end = plain.length; end > 0; end -= 1) {
    const v1 = names.get(plain.slice(0, end).join("."));
    if (v1 === undefined) continue;
    const renamed = v1.split(".").map((name, index) => `${name}${parts[index]?.slice(plain[index]?.length) ?? ""}`);
    return [...renamed, ...parts.slice(end)].join(".");
  }
  return field;
}

/** Only the `Invalid argument: NAME:` prefix holds a name; free text is left alone. */
function v1Message(message: string, names: Names): string {
  // In brackets stands an index, or a key: anything.
  const match = /^(Invalid argument: )((?:[A-Za-z0-9_.]|\[[^\]]*\])+)(:)/.exec(message);
  if (match === null) return message;
  const [whole, prefix = "", name = "", colon = ""] = match;
  return `${prefix}${v1Field(name, names)}${colon}${message.slice(whole.length)}`;
}
