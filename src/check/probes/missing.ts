/** How does the platform answer for a record that there is not? (v1's id filter becomes a Get; its empty list hangs on this.) */
import { isTypedRefusal, NOT_THERE } from "../../translate/error.ts";
import { type Answer, shownStatus } from "../api.ts";
import { type Finding, listed, sayFor } from "../finding.ts";
import type { Probe, Subject } from "../first-pages.ts";

const say = sayFor("missing");

export const missing: Probe = {
  id: "missing",
  asks: "Is a Get of a uid that nobody has refused with a typed 404 or 403?",
  run: async (subject) => {
    const right: string[] = [];
    const wrong = new Map<string, string[]>();
    const uid = impossible(subject);
    for (const { resource, path } of subject.lists) {
      if (!resource.operations.some(({ kind }) => kind === "get")) continue;
      const answer = await subject.api.get(`${path}/${uid}`);
      if (isTypedRefusal(answer.response, NOT_THERE)) right.push(resource.name);
      else wrong.set(wordsFor(answer), [...(wrong.get(wordsFor(answer)) ?? []), resource.name]);
    }
    const findings = [...wrong].map(([words, names]) => judge(words, names));
    if (right.length > 0) findings.unshift(say.ok(`refused with a typed 404 or 403: ${listed(right)}`));
    return findings;
  },
};

/** Well-formed, below a group that the credential can see (elsewhere any platform answers 403), and nobody's. */
function impossible({ lists, hex }: Subject): string {
  const group = lists.find(({ resource }) => resource.name === "group")?.page?.uids[0];
  return group === undefined ? hex(40) : `${group}/${hex(16)}`;
}

function wordsFor(answer: Answer): string {
  const untyped = answer.status === 404 || answer.status === 403;
  return `${shownStatus(answer)}${untyped ? ", without the code and the ErrorInfo or ResourceInfo of the API" : ""}`;
}

function judge(words: string, names: readonly string[]): Finding {
  return say.warn(
    `answered ${words}: ${listed(names)}`,
    "nothing to set: where v1 answered an id filter with an empty list, clients now get this as an error; see what stands in front of the platform",
  );
}
