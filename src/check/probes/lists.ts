/** Does the platform answer every list that carryover reads? (Trap T67: a collection may be taken for a record without a uid.) */
import { Problem } from "../../model/problem.ts";
import { isTypedRefusal, NOT_THERE } from "../../translate/error.ts";
import { shownStatus } from "../api.ts";
import { type Finding, listed, sayFor } from "../finding.ts";
import type { Probe, ReadList } from "../first-pages.ts";

const say = sayFor("lists");

export const lists: Probe = {
  id: "lists",
  asks: "Is every list answered that carryover reads?",
  run: ({ lists: all, config }) => {
    const served = all.filter(({ page }) => page !== undefined);
    const refused = all
      .filter(({ page }) => page === undefined)
      .map((list) => judge(list, config.upstream.v1 !== undefined));
    const findings =
      served.length === 0 ? [] : [say.ok(`answered: ${listed(served.map(({ resource }) => resource.name))}`)];
    return Promise.resolve([...findings, ...refused]);
  },
};

function judge({ resource, path, answer }: ReadList, native: boolean): Finding {
  const { name } = resource;
  if (answer instanceof Problem) {
    return say.fail(`${name}: no usable answer (${answer.reason})`, "check again, and ask the platform's operators");
  }
  const status = shownStatus(answer);
  if (answer.status === 403 && isTypedRefusal(answer.response, NOT_THERE)) {
    return say.skipped(`${name}: the credential may not read it (${status})`, "check with a token that may read it");
  }
  if (answer.status === 200) {
    return say.fail(
      `${name}: ${path} answers something that is no page of ${resource.items}`,
      "have the platform's operators look at it",
    );
  }
  const instead = native
    ? "until then send clients that list them to the platform's own v1, past carryover"
    : "v1 lists of them are refused meanwhile";
  if (answer.status === 400 || answer.status === 404) {
    return say.warn(
      `${name}: the list is refused (${status}); a gateway that takes ${path} for a record without a uid does this`,
      `have the platform's operators give the bare collection priority over {uid=**}; ${instead}`,
    );
  }
  return say.warn(
    `${name}: the list is refused (${status})`,
    `ask the platform's operators whether it serves ${path}; ${instead}`,
  );
}
