/** Does native v1 show the times that carryover shows? (`v1.recordTimes`.) */
import { isJsonObject, type JsonObject, member } from "../../model/json.ts";
import { isUnpublished } from "../../model/published.ts";
import type { Row } from "../../model/resource.ts";
import type { Api } from "../api.ts";
import { type Finding, listed, sayFor } from "../finding.ts";
import { byLength, type ListOperation, type Page, type Probe, type ReadList, type Subject } from "../first-pages.ts";

const say = sayFor("times");
const PATH = "v1.recordTimes";

export const times: Probe = {
  id: "times",
  asks: "Does native v1 show the same times of a record as carryover?",
  async run(subject) {
    if (subject.native === undefined) return [];
    const found = [];
    for (const list of byLength(subject)) found.push(await compare(subject.native, list));
    return [
      judge(subject, { shown: found.flatMap(({ shown }) => shown), lacking: found.flatMap(({ lacking }) => lacking) }),
    ];
  },
};

/** Members `resource.name` that v2 has a value for: those that native v1 shows, and those that it does not. */
interface Times {
  readonly shown: readonly string[];
  readonly lacking: readonly string[];
}

const NOTHING: Times = { shown: [], lacking: [] };

/** One record of the list, as native v1 shows it: by the list's own filter for one record, since v1 has no other read. */
async function compare(native: Api, { resource, operation, page }: ReadList & { readonly page: Page }): Promise<Times> {
  const rows = operation.answer.rows.filter(isUnpublished);
  const record = page.records.find((each) => rows.some((row) => holds(each, row)));
  const filter = filterFor(operation);
  if (record === undefined || filter === undefined) return NOTHING;
  const uid = String(member(record, "uid") ?? "");
  const target = `/${resource.domain}/v1/${resource.v1}?${filter}=${encodeURIComponent(uid)}`;
  const { status, json } = await native.get(target);
  const items = status === 200 ? member(json, "items") : undefined;
  const told = Array.isArray(items) ? items.find((each) => member(each, resource.key) === uid) : undefined;
  if (!isJsonObject(told)) return NOTHING;
  const names = rows.filter((row) => holds(record, row)).map(({ v1 }) => v1);
  const named = (wanted: boolean) =>
    names.filter((name) => isThere(told, name) === wanted).map((name) => `${resource.name}.${name}`);
  return { shown: named(true), lacking: named(false) };
}

function filterFor({ filters }: ListOperation): string | undefined {
  return filters.find(({ use }) => use === "get")?.v1;
}

/** Whether carryover would have a time to show there. */
function holds(record: JsonObject, { v2, from }: Row): boolean {
  return (from ?? (v2 === null ? [] : [v2])).some((name) => isThere(record, name));
}

function isThere(record: JsonObject, name: string): boolean {
  return (member(record, name) ?? null) !== null;
}

function judge({ config }: Subject, { shown, lacking }: Times): Finding {
  const { recordTimes } = config.v1;
  if (shown.length + lacking.length === 0) {
    return say.skipped("no record of both versions to compare", "check with a token that can read some");
  }
  if (recordTimes === "all" && lacking.length > 0) {
    const what = `native v1 does not show ${listed(lacking)}, and carryover does`;
    return differs(what, "clients break that refuse fields they do not know", shown, "published");
  }
  if (recordTimes === "published" && shown.length > 0) {
    return differs(`native v1 shows ${listed(shown)}, and carryover does not`, "clients miss them", lacking, "all");
  }
  return say.ok("native v1 shows the times that carryover shows");
}

/** `others`: the members with which the other value of the option would be wrong. */
function differs(what: string, harm: string, others: readonly string[], value: string): Finding {
  if (others.length > 0) return say.warn(what, `${harm}; neither value of ${PATH} fits all records`);
  return say.warn(what, harm, { path: PATH, value });
}
