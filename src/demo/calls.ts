/** Which calls show what carryover does? */

/** One call, made by the tour or pasted as a curl line. */
export interface Call {
  readonly title: string;
  readonly method: "GET" | "PUT";
  readonly url: string;
  readonly body?: string;
  readonly token: boolean;
  /** Status of a call that went well. */
  readonly expect: number;
  /** Only lines of the answer that begin with this are shown. */
  readonly only?: string;
  /** Its answer is long: only the beginning is shown, with its header fields. */
  readonly long?: true;
}

export interface Addresses {
  readonly url: string;
  readonly adminUrl: string;
  readonly sandboxUrl: string;
  /** Uid of a group to read and change. */
  readonly group: string;
}

/** A handful, from a long list to the metrics. */
export function demoCalls({ url, adminUrl, sandboxUrl, group }: Addresses): readonly Call[] {
  const read = { method: "GET", token: true, expect: 200 } as const;
  return [
    {
      ...read,
      title: "A v1 list: every group in one answer, though v2 gives at most 200 a page",
      url: `${url}/iam/v1/groups`,
      long: true,
    },
    { ...read, title: "A v1 get of one group", url: `${url}/iam/v1/groups/${group}` },
    {
      title: "A v1 PUT replaces everything: the description that it leaves out is cleared by a PATCH that names it",
      method: "PUT",
      url: `${url}/iam/v1/groups/${group}`,
      body: '{"name":"renamed by the tour"}',
      token: true,
      expect: 200,
    },
    {
      ...read,
      title: "The same record from the platform's native v1",
      url: `${sandboxUrl}/iam/v1/groups?id=${encodeURIComponent(group)}`,
    },
    { ...read, title: "A v2 call passes through untouched", url: `${url}/iam/v2beta1/groups?page_size=1` },
    {
      method: "GET",
      token: false,
      expect: 200,
      title: "What an operator sees of it",
      url: `${adminUrl}/metrics`,
      only: "carryover_requests_total",
    },
  ];
}

/** The call as a line for a shell in which TOKEN is set. */
export function toCurl({ method, url, body, token, only, long }: Call): string {
  const words = ["curl", "-s"];
  if (method !== "GET") words.push("-X", method);
  if (token) words.push("-H", '"Authorization: Bearer $TOKEN"');
  if (body !== undefined) words.push("-d", `'${body}'`);
  words.push(`'${url}'`);
  if (only !== undefined) return `${words.join(" ")} | grep '^${only}'`;
  // The answer's own header fields say what was proved of a list; its body is too long for a terminal.
  return long === true ? `${words.join(" ")} -D - | head -c 1200; echo` : `${words.join(" ")}; echo`;
}
