/** In which order do lists come? */
import { type Finding, listed, sayFor } from "../finding.ts";
import { byLength, orderParam, type Page, type Probe, type ReadList, readPage, type Subject } from "../first-pages.ts";

const say = sayFor("order");
/** Records of the second, smaller reading. */
const AGAIN = 5;

type Read = ReadList & { readonly page: Page };

export const order: Probe = {
  id: "order",
  asks: "Do lists come in ascending order of uid where the catalogue says so, and the same way twice elsewhere?",
  run: async (subject) => {
    const all = byLength(subject).filter(({ page }) => page.records.length > 1);
    if (all.length === 0)
      return [say.skipped("no list has two records", "check with a token that can read a longer list")];
    const right = all.filter(({ resource, page }) => resource.orderedByUid && ascends(page.uids));
    const findings: Finding[] = right.length === 0 ? [] : [say.ok(`by uid: ${namesOf(right)}`)];
    const others = all.filter((list) => !right.includes(list));
    const wrong = others.filter(({ resource }) => resource.orderedByUid);
    if (wrong.length > 0) findings.push(await remedied(subject, `not by uid: ${namesOf(wrong)}`));
    const unsteady = await unsteadyOf(subject, others);
    const steady = others.filter((list) => !unsteady.includes(list) && !list.resource.orderedByUid);
    if (steady.length > 0) findings.push(say.ok(`an order of its own, the same twice: ${namesOf(steady)}`));
    if (unsteady.length > 0) {
      findings.push(
        say.warn(
          `a list read twice begins differently: ${namesOf(unsteady)}`,
          "either somebody writes just now (check again), or pages may miss records: set lists.require: count to be told",
        ),
      );
    }
    return findings;
  },
};

/** Such lists are read one page after another and prove little: whether the platform orders them by uid when asked to. */
async function remedied(subject: Subject, what: string): Promise<Finding> {
  const { api, config } = subject;
  const slow = "such lists are read one page after another, and lists.require: cover refuses them";
  if (config.lists.orderBy !== undefined)
    return say.warn(what, `nothing to set, order_by=${config.lists.orderBy} is sent already: ${slow}`);
  const refused: Read[] = [];
  for (const list of byLength(subject)) {
    const page = await readPage(api, list, { size: AGAIN }, [orderParam("uid")]);
    if (page === undefined || !ascends(page.uids)) refused.push(list);
  }
  // The option is for all lists: where one refuses it, that one could not be read any more.
  if (refused.length > 0)
    return say.warn(what, `nothing to set, order_by=uid is not heeded (${namesOf(refused)}): ${slow}`);
  return say.warn(what, `${slow}, unless they are asked for by uid`, { path: "lists.orderBy", value: "uid" });
}

async function unsteadyOf({ api }: Subject, lists: readonly Read[]): Promise<readonly Read[]> {
  const unsteady: Read[] = [];
  for (const list of lists) {
    const again = await readPage(api, list, { size: AGAIN });
    if (again === undefined) continue;
    const same = again.uids.every((uid, index) => uid === list.page.uids[index]);
    if (!same) unsteady.push(list);
  }
  return unsteady;
}

function ascends(uids: readonly string[]): boolean {
  return uids.every((uid, index) => index === 0 || uid > (uids[index - 1] ?? ""));
}

function namesOf(lists: readonly Read[]): string {
  return listed(lists.map(({ resource }) => resource.name));
}
