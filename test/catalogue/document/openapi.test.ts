import { expect, test } from "vitest";
import { stringify } from "yaml";
import { openApi } from "../../../src/catalogue/document/openapi.ts";
import { loadCatalogue } from "../../../src/catalogue.ts";
import { isJsonObject, type Json, member } from "../../../src/model/json.ts";

const { resources } = await loadCatalogue("v2beta1");
const document = openApi(resources);

test("the OpenAPI document is the one the catalogue gives", async () => {
  const text = stringify(document, { aliasDuplicateObjects: false, lineWidth: 120 });
  await expect(text).toMatchFileSnapshot("../../../docs/openapi.yaml");
});

test("every translated operation is in it once, by a name of its own", () => {
  const ids = operations(document).map((operation) => member(operation, "operationId"));
  expect(new Set(ids).size).toBe(ids.length);
  const translated = resources.flatMap(({ operations }) => operations.filter(({ kind }) => kind !== "native"));
  const twice = translated.filter((operation) => operation.kind === "create" && operation.emptyParent === true);
  expect(ids).toHaveLength(translated.length + twice.length);
});

test("every reference leads somewhere", () => {
  const broken = references(document).filter((ref) => {
    const place = ref.slice(2).split("/");
    return place.reduce<Json | undefined>((at, name) => member(at, name), document) === undefined;
  });
  expect(broken).toEqual([]);
  expect(references(document).length).toBeGreaterThan(20);
});

function operations(whole: Json): Json[] {
  const paths = member(whole, "paths");
  return isJsonObject(paths)
    ? Object.values(paths).flatMap((item) => (isJsonObject(item) ? Object.values(item) : []))
    : [];
}

function references(value: Json): string[] {
  if (Array.isArray(value)) return value.flatMap(references);
  if (!isJsonObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === "$ref" && typeof inner === "string" ? [inner] : references(inner),
  );
}
