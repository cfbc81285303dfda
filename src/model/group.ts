/** Groups a list by a key. */

/** Never empty. */
type Group<One> = [One, ...One[]];

/** Groups `items` by `key`, in the order in which each key came first. */
export function grouped<One>(items: readonly One[], key: (one: One) => readonly unknown[]): readonly Group<One>[] {
  const groups = new Map<string, Group<One>>();
  for (const one of items) {
    const name = JSON.stringify(key(one));
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [one]);
    else group.push(one);
  }
  return [...groups.values()];
}
