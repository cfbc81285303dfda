/** Requests that were counted against a rule: its events name some of them, so that a person can look them up in the log. */

/** `failure`: the translation failed it; `difference`: its comparison differed; `v2`: v2 failed it. */
export interface Example {
  readonly what: "failure" | "difference" | "v2";
  /** `group list`. */
  readonly operation: string;
  readonly client: string;
  /** `x-request-id`. */
  readonly request: string;
  /** Milliseconds of the clock of the rule's events. */
  readonly reading: number;
}

const MOST = 30;
const MOST_OF_ONE = 3;

/** The examples with `latest`, without those that are more than enough. */
export function withExample(examples: readonly Example[], latest: Example): readonly Example[] {
  const same = examples.filter(({ what, operation }) => what === latest.what && operation === latest.operation);
  const rest = same.length < MOST_OF_ONE ? examples : examples.filter((one) => one !== same[0]);
  return [...rest, latest].slice(-MOST);
}

/** Of the examples of one cause since `since`: the latest ids, and the client if it is the same in all. `operation`: undefined for any. */
export function examplesOf(
  examples: readonly Example[],
  {
    what,
    operation,
    since,
  }: { readonly what: Example["what"]; readonly operation?: string | undefined; readonly since: number },
): { readonly requests: readonly string[] | undefined; readonly client: string | undefined } {
  const found = examples.filter(
    (one) => one.what === what && (operation ?? one.operation) === one.operation && one.reading >= since,
  );
  const [client, ...others] = new Set(found.map((one) => one.client));
  return {
    requests: found.length === 0 ? undefined : [...new Set(found.map(({ request }) => request))].slice(-MOST_OF_ONE),
    client: others.length === 0 ? client : undefined,
  };
}
