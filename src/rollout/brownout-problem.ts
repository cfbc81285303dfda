/** The response of a brownout, over HTTP and gRPC. */
import { type HeaderField, type HeaderList, OurHeader } from "../model/http.ts";
import { Problem } from "../model/problem.ts";
import type { BrownoutSettings, RefusingDecision } from "../model/rules.ts";

/** The refusal of a request. `notice`: the headers that announce the end of v1, as the rule has them. */
export function brownoutProblem({ rule, brownout, window, at }: RefusingDecision, notice: HeaderList): Problem {
  const { status, message, successor, contact } = brownout;
  const [from, until] = [window.start, window.end].map((time) => new Date(time).toISOString().replace(".000Z", "Z"));
  const asks = contact === undefined ? "" : ` Questions: ${contact}`;
  const next = successor === undefined ? "" : ` Use v2 instead: ${successor}`;
  const isOther = ([name, value]: HeaderField) => successor !== undefined && name === "link" && isSuccessor(value);
  return new Problem("BROWNOUT", `${message} (brownout ${rule.name} from ${from} until ${until}).${next}${asks}`, {
    http: status,
    retryAfter: Math.max(1, (window.end - at) / 1000),
    metadata: {
      rule: rule.name,
      from: from ?? "",
      until: until ?? "",
      successor,
      contact,
    },
    headers: [
      [OurHeader.BROWNOUT, `rule=${rule.name}; from=${from}; until=${until}`],
      ...notice.filter((field) => !isOther(field)),
      ...linksOf(brownout),
    ],
  });
}

function isSuccessor(value: string): boolean {
  return value.includes('rel="successor-version"');
}

function linksOf({ successor, contact }: BrownoutSettings): HeaderList {
  const help = contact === undefined ? undefined : contactUrl(contact);
  return [
    ...(successor === undefined ? [] : [["link", `<${successor}>; rel="successor-version"`] as const]),
    ...(help === undefined ? [] : [["link", `<${help}>; rel="help"`] as const]),
  ];
}

/** Undefined for a contact that is not an address, such as a channel. */
function contactUrl(contact: string): string | undefined {
  if (/^https?:\/\/[\x21\x23-\x3b\x3d\x3f-\x7e]+$/.test(contact)) return contact;
  return /^[\w.+-]{1,64}@[A-Za-z0-9.-]{1,255}$/.test(contact) ? `mailto:${contact}` : undefined;
}
