/** How many variants of a thing are tried: a few of each kind in `npm test`, all of them in `npm run test:all` and in the trust runs. */
const tier = { exhaustive: process.env["TEST_SCALE"] === "long" };

/** For `every-variant.ts` only. */
export function tryEverything(): void {
  tier.exhaustive = true;
}

/** `all` in `*.all.ts` files, else `some`. Unlike `scale`, which multiplies long trials, this chooses between variants. */
export function variants<T>(some: T, all: T): T {
  return tier.exhaustive ? all : some;
}
