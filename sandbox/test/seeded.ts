/** Sandboxes that share their seeded records, so that a test does not make thousands of them again. */

import type { ApiRequest } from "../src/http.ts";
import { type SandboxOptions, settingsOf } from "../src/options.ts";
import { createSandbox, type Sandbox } from "../src/sandbox.ts";
import { createSeed, type Seed } from "../src/seed/seed.ts";

const seeds = new Map<string, Seed>();

/** The records that a sandbox with these options begins with. Made once; frozen, since every sandbox holds the same objects. */
function seedOf(options: SandboxOptions = {}): Seed {
  const settings = settingsOf(options);
  const { seed: name, size, organisation, beyondV2 } = settings;
  const key = JSON.stringify([name, size, organisation, beyondV2]);
  const known = seeds.get(key);
  if (known !== undefined) return known;
  const made = createSeed(settings);
  for (const records of made.records.values()) for (const { value, extra } of records) freeze([value, extra]);
  seeds.set(key, made);
  return made;
}

/** A sandbox of its own that begins with the shared records. */
export function seededSandbox(options: SandboxOptions = {}): Sandbox {
  return createSandbox(options, seedOf(options));
}

/** The same, with everything that arrives at it. */
export function recordingSandbox(options: SandboxOptions = {}): { sandbox: Sandbox; arrived: ApiRequest[] } {
  const arrived: ApiRequest[] = [];
  const sandbox = seededSandbox({
    ...options,
    faults: (next) => {
      const send = options.faults?.(next) ?? next;
      return (request, settings) => {
        arrived.push(request);
        return send(request, settings);
      };
    },
  });
  return { sandbox, arrived };
}

function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
  Object.freeze(value);
  for (const inner of Object.values(value)) freeze(inner);
}
