/** A catalogue of few names, and how a file is read against it. */
import { ConfigError, faultText } from "../../../src/config/faults.ts";
import { type RulesContext, readRules } from "../../../src/config/rules.ts";

const crud = [
  { name: "list", write: false },
  { name: "get", write: false },
  { name: "create", write: true },
  { name: "update", write: true },
  { name: "delete", write: true },
];

/** 2026-11-21. */
export const NOW = Date.UTC(2026, 10, 21);

const CONTEXT: RulesContext = {
  name: "r.yaml",
  resources: [
    { name: "group", aliases: ["groups"], operations: crud },
    { name: "repo", aliases: ["repos"], operations: [...crud, { name: "get-readme", write: false }] },
    { name: "role-binding", aliases: ["rolebindings", "roleBindings"], operations: crud },
    { name: "advisory", aliases: ["advisories", "reports"], operations: [{ name: "list", write: false }] },
    { name: "build-report", aliases: ["buildreports", "reports"], operations: [{ name: "list", write: false }] },
  ],
  native: true,
  now: NOW,
  expired: "refuse",
};

export function read(text: string | Uint8Array, context: Partial<RulesContext> = {}) {
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  return readRules(bytes, { ...CONTEXT, ...context });
}

/** What is wrong with the file, line by line; throws for anything but a ConfigError. */
export function faults(text: string | Uint8Array, context: Partial<RulesContext> = {}): readonly string[] {
  try {
    read(text, context);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults.map(faultText);
    throw error;
  }
  return [];
}

/** A file with these rules, each given as the text behind `- `, on one line. */
export function file(...rules: readonly string[]): string {
  return [
    "version: carryover/v1",
    rules.length === 0 ? "rules: []" : "rules:",
    ...rules.map((rule) => `  - ${rule}`),
    "",
  ].join("\n");
}
