/** What does every handler of the sandbox work with? */
import type { SandboxSettings } from "./options.ts";
import type { Store } from "./store/store.ts";
import { timeText } from "./wire/scalars.ts";
import type { Schema } from "./wire/schema.ts";

export interface Context {
  readonly store: Store;
  readonly settings: SandboxSettings;
  /** The messages of native v1. */
  readonly v1: Schema;
}

/** The time of the injected clock as records carry it. */
export function now(context: Context): string {
  return timeText(context.settings.clock());
}
