/**
 * Brownouts over all replicas that share a store: each keeps a row with what it counted in the window, and reads the rows of all. What stops a
 * brownout on one replica stops it on all.
 */
import { member, parsedJson } from "../model/json.ts";
import type { Rollout } from "../rollout/rollout.ts";
import { LONGEST_REASON } from "../rules/status.ts";
import type { TickReply } from "../state/shared/protocol.ts";
import type { Rows } from "../state/shared/rows.ts";
import { createRuleKeys } from "./rule-keys.ts";
import { foreignText, shared } from "./shared-adoption.ts";

interface SharedBrownoutsParts {
  readonly rollout: Pick<Rollout, "brownouts" | "brownoutTogether" | "rule">;
  readonly rows: Pick<Rows, "put">;
}

export function createSharedBrownouts({ rollout, rows }: SharedBrownoutsParts) {
  const keyOf = createRuleKeys();
  /** The names of rows that were put, by the names of their rules. */
  const told = new Map<string, string>();
  const rowOf = (name: string): string | undefined => {
    const rule = rollout.rule(name);
    return rule === undefined ? undefined : `brownout:${keyOf(rule)}`;
  };
  return {
    /** Before each tick: brings the rows up to date, and returns the names of those to ask for. */
    beforeTick: (): readonly string[] => {
      const present = rollout.brownouts();
      for (const [name, row] of told) {
        const isOver = (present.get(name)?.phase.kind ?? "waiting") === "waiting";
        if (!isOver && rowOf(name) === row) continue;
        told.delete(name);
        rows.put(row, undefined);
      }
      return [...present].flatMap(([name, { phase }]) => {
        const row = rowOf(name);
        if (row === undefined || phase.kind === "waiting") return [];
        const { window, counts, why } = phase;
        const stopped = phase.kind === "stopped" ? { stopped: shared(why, LONGEST_REASON) } : {};
        rows.put(row, JSON.stringify({ start: window.start, ...counts, ...stopped }));
        told.set(name, row);
        return [row];
      });
    },
    /** After each tick: takes the rows that the store returned. */
    afterTick: (answers: ReadonlyMap<string, TickReply["answers"][number]>): void => {
      for (const [name, { phase }] of rollout.brownouts()) {
        const found = phase.kind === "waiting" ? undefined : answers.get(rowOf(name) ?? "");
        if (found === undefined || phase.kind === "waiting") continue;
        const { start } = phase.window;
        const shares = found.flatMap(({ text }) => readShare(text, start) ?? []);
        const sum = (of: "requests" | "refused") => shares.reduce((all, one) => all + one[of], 0);
        const stopped = shares.find((one) => one.stopped !== undefined)?.stopped;
        rollout.brownoutTogether(name, start, { requests: sum("requests"), refused: sum("refused") }, stopped);
      }
    },
  };
}

/** What a replica counted in the window that begins at `start`. Undefined for a row that cannot be read, and for one of another window. */
function readShare(text: string, start: number) {
  const found = parsedJson(text);
  const [requests, refused] = [member(found, "requests"), member(found, "refused")];
  if (member(found, "start") !== start || !isCount(requests) || !isCount(refused)) return undefined;
  return { requests, refused, stopped: foreignText(member(found, "stopped"), LONGEST_REASON) };
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
