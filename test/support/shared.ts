/** What all carryovers of one test process share, because it costs much to make and holds nothing of any request. */
import { type Catalogue, loadCatalogue } from "../../src/catalogue/catalogue.ts";
import type { Resource } from "../../src/model/resource.ts";
import { createTranslations, type Translate } from "../../src/translate/translations.ts";

const catalogues = new Map<string, Promise<Catalogue>>();
const translations = new WeakMap<readonly Resource[], Map<string, ReturnType<Translate>>>();

/** `loadCatalogue`, once per version. */
export function sharedCatalogue(version: string): Promise<Catalogue> {
  const found = catalogues.get(version) ?? loadCatalogue(version);
  catalogues.set(version, found);
  return found;
}

/** `createTranslations`, once per catalogue and options. */
export const sharedTranslations: Translate = (resources, options) => {
  const made = translations.get(resources) ?? new Map<string, ReturnType<Translate>>();
  translations.set(resources, made);
  const key = JSON.stringify(Object.entries(options).sort());
  const found = made.get(key) ?? createTranslations(resources, options);
  made.set(key, found);
  return found;
};
