/** The entries of `clients.names`: which name stands for which identities, and who answers for that client. */

/** One entry, as flags and files write it. */
export type ClientNameEntry = string | NamedClientEntry;

export interface NamedClientEntry {
  readonly name: string;
  readonly identity: string | readonly string[];
  readonly owner?: string | undefined;
  readonly contact?: string | undefined;
}

/** Who answers for a client: for people only. */
export interface ClientOwner {
  readonly owner?: string | undefined;
  /** How to reach them: an address, a channel, a link. */
  readonly contact?: string | undefined;
}

export interface NamedClient extends ClientOwner {
  readonly name: string;
  /** Without blanks around them. One without any text makes the entry invalid. */
  readonly identities: readonly string[];
}

/** `NAME=IDENTITY` has neither owner nor contact. */
export function namedClient(entry: ClientNameEntry): NamedClient {
  if (typeof entry === "string") {
    const at = Math.max(0, entry.indexOf("="));
    return { name: entry.slice(0, at), identities: [entry.slice(at + 1).trim()] };
  }
  const { name, identity, owner, contact } = entry;
  const identities = (typeof identity === "string" ? [identity] : identity).map((text) => text.trim());
  return { name, identities, owner, contact };
}

/** By name. Entries of one name that name an owner or a contact agree (`clients.names` is refused otherwise). */
export function ownersOf(entries: readonly ClientNameEntry[]): ReadonlyMap<string, ClientOwner> {
  const owners = new Map<string, ClientOwner>();
  for (const { name, owner, contact } of entries.map(namedClient)) {
    if (owner === undefined && contact === undefined) continue;
    const before = owners.get(name);
    owners.set(name, { owner: before?.owner ?? owner, contact: before?.contact ?? contact });
  }
  return owners;
}
