/** What becomes of each parameter of a request's query, read from the recorded calls: nothing is translated here. */

import { camelCase, snakeCase } from "../../model/field-names.ts";
import { type Problem, unlessProblem } from "../../model/problem.ts";
import type { Filter } from "../../model/resource.ts";
import { parseQuery } from "../../translate/query.ts";
import type { ExplainedParameter, ParameterOutcome } from "./explanation.ts";
import type { RecordedCall } from "./recording.ts";
import { isSecretName, MASKED, withoutTokens } from "./secrets.ts";

interface ParameterParts {
  /** Raw, without `?`. */
  readonly query: string;
  readonly filters: readonly Filter[];
  readonly calls: readonly RecordedCall[];
  readonly refusal: Problem | undefined;
}

/**
 * Parameters in the order of the query, then those that are sent although the client gave none. Of a refused request only
 * what is refused.
 */
export function explainParameters(parts: ParameterParts): ExplainedParameter[] {
  if (parts.refusal !== undefined) return refusedParameters(parts.refusal);
  // A query that cannot be read gets this far only where nothing reads it.
  const given = unlessProblem(() => parseQuery(parts.query)) ?? [];
  const [call] = parts.calls;
  const first = call?.subject.params ?? new URLSearchParams();
  const explained = given.map(({ name, value }): ExplainedParameter => {
    const filter = parts.filters.find(({ v1 }) => v1 === name || camelCase(v1) === name);
    const shown = isSecretName(name) && value !== "" ? MASKED : withoutTokens(value);
    const base = { v1: name, given: shown };
    if (filter === undefined) {
      return { ...base, sent: null, becomes: "ignored", why: "v1 knows no such parameter, and ignored it" };
    }
    return { ...base, ...outcomeOf(filter, value, first, call?.subject.kind === "record") };
  });
  const added = parts.filters.filter(
    (filter) => filter.use === "inverted" && !given.some(({ name }) => snakeCase(name) === filter.v1),
  );
  return [...explained, ...added.flatMap((filter) => addedOutcome(filter, first))];
}

type SentParameter = Pick<ExplainedParameter, "sent" | "becomes" | "why">;

function outcomeOf(filter: Filter, value: string, sent: URLSearchParams, single: boolean): SentParameter {
  // v1's parent is one of two filters of v2.
  const parent = ["uidp.children_of", "uidp.in_root"].find((name) => sent.has(name));
  const v2 = "v2" in filter ? filter.v2 : filter.use === "parent" ? parent : undefined;
  const values = v2 === undefined ? [] : sent.getAll(v2);
  const found = values.includes(value) ? value : values[0];
  if (v2 !== undefined && found !== undefined) {
    const pair = isSecretName(filter.v1) ? `${v2}=${MASKED}` : `${v2}=${withoutTokens(found)}`;
    return { sent: pair, ...sentOutcome(filter, v2, found === value) };
  }
  if (filter.use === "get") return getOutcome(value, sent);
  if (value === "") return { sent: null, becomes: "ignored", why: "an empty text is no filter, as in v1" };
  if (single) return { sent: null, becomes: "applied", why: "by carryover, to the one record: a Get takes no filters" };
  return { sent: null, becomes: "ignored", why: "v1's zero value is no filter" };
}

function sentOutcome(filter: Filter, v2: string, same: boolean): { becomes: ParameterOutcome; why: string } {
  if (filter.use === "inverted") return { becomes: "inverted", why: "v2 asks for the opposite" };
  if (filter.use === "parent") {
    return { becomes: "applied", why: "v2's nearest filter is sent, and each uid tested by carryover" };
  }
  if (!same) return { becomes: "converted", why: "v2's form of the value" };
  return snakeCase(filter.v1) === v2 ? { becomes: "sent", why: "" } : { becomes: "renamed", why: "v2's name" };
}

function getOutcome(value: string, sent: URLSearchParams): SentParameter {
  if (value === "") return { sent: null, becomes: "ignored", why: "an empty text is no filter, as in v1" };
  const byList = sent.getAll("uidp.ids").includes(value);
  if (byList) return { sent: `uidp.ids=${value}`, becomes: "renamed", why: "another filter needs the list" };
  if (sent.get("page_size") === "1") {
    return { sent: null, becomes: "applied", why: "nothing can match; the platform is only asked who may ask" };
  }
  return { sent: null, becomes: "get", why: "a Get of the one record: v2's lists take no id" };
}

function addedOutcome(filter: Filter, sent: URLSearchParams): ExplainedParameter[] {
  const v2 = "v2" in filter ? filter.v2 : "";
  const value = sent.get(v2);
  if (value === null) return [];
  const why = "always sent: without it v2 shows less than v1 did";
  return [{ v1: filter.v1, given: null, sent: `${v2}=${value}`, becomes: "added", why }];
}

function refusedParameters({ reason, fieldViolations }: Problem): ExplainedParameter[] {
  const violations = reason === "INVALID_FILTER" ? fieldViolations : [];
  return violations.map(({ field, description }): ExplainedParameter => {
    return { v1: field, given: null, sent: null, becomes: "refused", why: description };
  });
}
