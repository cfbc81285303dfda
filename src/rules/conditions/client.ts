/** The client, by its exact name. */
import { didYouMean, nearest } from "../../model/text.ts";
import { oneOrMany, textLike } from "../leaves.ts";
import { anyOf, shownName } from "../words.ts";
import type { Condition, RuleRemark } from "./condition.ts";

export interface ClientMatch {
  /** Names as the ledger has them. Without it: all. */
  readonly clients: ReadonlySet<string> | undefined;
}

const schema = {
  client: oneOrMany(textLike(/^(?! )\P{Cc}{1,256}(?<! )$/u), "a client's name, as /clients shows it", "clients")
    .optional()
    .describe("Clients, exactly as the ledger names them. Without it: all"),
};

export const client: Condition<ClientMatch, typeof schema> = {
  schema,
  build: (text) => ({ clients: text.client && new Set(text.client) }),
  holds: ({ match: { clients } }) => clients && (({ input }) => clients.has(input.client)),
  covers({ match: { clients: outer } }, { match: { clients: inner } }) {
    if (outer === undefined || inner === undefined) return outer === undefined;
    return outer.size >= inner.size && [...inner].every((name) => outer.has(name));
  },
  words: ({ clients }) => (clients === undefined ? [] : [`client ${anyOf([...clients].map(shownName))}`]),
  view: ({ clients }) => ({ clients: clients && [...clients] }),
  why: ({ match: { clients = [] } }, { input }, taken) =>
    taken ? undefined : `client is ${input.client}, not ${anyOf(clients)}`,
  remarks: ({ match }, { clients: known }) => nameRemarks(match.client ?? [], ["match", "client"], known),
};

/** Remarks on names of clients at the `path` of a rule. `known`: the names of `clients.names`. */
export function nameRemarks(
  names: readonly string[],
  path: readonly string[],
  known: ReadonlySet<string>,
): readonly RuleRemark[] {
  return names.flatMap((name): readonly RuleRemark[] => {
    if (name.endsWith("*")) {
      const what = `${JSON.stringify(name)} is taken literally: rules name clients exactly`;
      return [{ path, what, remedy: "name each client" }];
    }
    const near = nearMiss(name, known);
    if (near === undefined) return [];
    // A rule with one letter wrong takes no client.
    const what = `clients.names has no ${JSON.stringify(name)}: rules name clients exactly`;
    return [{ path, what, remedy: didYouMean(near), kind: "doubtful" }];
  });
}

function nearMiss(name: string, known: ReadonlySet<string>): string | undefined {
  if (known.has(name)) return undefined;
  // One of a series is another client, not a mistake: `worker-1` and `worker-2`, `team-a` and `team-b`.
  const others = [...known].filter((other) => seriesOf(other) !== seriesOf(name));
  return nearest(name, known, 0) ?? nearest(name, others, Math.floor(name.length / 4));
}

function seriesOf(name: string): string {
  return name.replace(/[-_.]?((?<!\d)\d+|(?<=[-_.])[a-z])$/, "");
}
