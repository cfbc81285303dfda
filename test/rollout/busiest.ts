/** Counts the most work done between two pauses. (It counts operations, because a clock varies from run to run.) */

type Method = (this: unknown, ...given: unknown[]) => unknown;
type Holder = Record<PropertyKey, Method>;

/** What counts as one, whatever it is called on: a turn of a loop has one of these at least. */
const ONE: readonly (readonly [object, PropertyKey])[] = [
  [Object.getPrototypeOf([][Symbol.iterator]()), "next"],
  [Object.getPrototypeOf(new Map()[Symbol.iterator]()), "next"],
  [Buffer.prototype, "compare"],
];
/** What goes through the whole list. */
const WHOLE: readonly (readonly [object, PropertyKey])[] = (
  ["concat", "every", "filter", "find", "flatMap", "forEach", "join", "map", "reduce", "slice", "some", "sort"] as const
).map((name) => [Array.prototype, name]);
/** What goes through everything when there is no more room. */
const GROWING: readonly (readonly [object, PropertyKey])[] = [
  [Map.prototype, "set"],
  [Set.prototype, "add"],
];

const { has: hasKey } = Map.prototype;
const { has: hasValue } = Set.prototype;

/** Runs `steps` to their end; the most that one of them did, by the count of everything above. */
export function busiest(steps: Generator<void, unknown>): number {
  const counter = { count: 0 };
  // Watched once for all steps: to begin and end it costs more than a step.
  return counting(counter, () => {
    let most = 0;
    for (;;) {
      counter.count = 0;
      const { done } = steps.next();
      if (counter.count > most) most = counter.count;
      if (done === true) return most;
    }
  });
}

function counting<T>(counter: { count: number }, run: () => T): T {
  const undo: (() => void)[] = [];
  const watch = (methods: typeof ONE, weigh: (on: unknown, given: readonly unknown[]) => number): void => {
    for (const [holder, name] of methods) {
      const held = holder as Holder;
      const method = held[name] as Method;
      const watched: Method = function (...given) {
        counter.count += weigh(this, given);
        return Reflect.apply(method, this, given);
      };
      Object.defineProperty(held, name, { value: watched, configurable: true, writable: true });
      undo.push(() => Object.defineProperty(held, name, { value: method, configurable: true, writable: true }));
    }
  };
  watch(ONE, () => 1);
  watch(WHOLE, (on) => (on as readonly unknown[]).length);
  watch(GROWING, (on, [key]) => 1 + copied(on as Map<unknown, unknown> | Set<unknown>, key));
  try {
    return run();
  } finally {
    for (const each of undo.reverse()) each();
  }
}

/** How many are copied to make room for `key`: all of them each time that they are a power of two. */
function copied(held: Map<unknown, unknown> | Set<unknown>, key: unknown): number {
  const { size } = held;
  const isNew = !Reflect.apply(held instanceof Map ? hasKey : hasValue, held, [key]);
  return isNew && (size & (size - 1)) === 0 ? size : 0;
}
