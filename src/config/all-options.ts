/**
 * Every option, in the order of the documentation. Making the list takes a while, so the build makes it once and puts the result in the place of
 * this module (scripts/build/generated.mjs).
 */
import { settingsJsonSchema } from "./schema.ts";
import { type Option, optionsOf } from "./sources.ts";

export const ALL_OPTIONS: readonly Option[] = optionsOf(settingsJsonSchema());
