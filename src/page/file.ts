/** A document that is read as a file: without the admin port, its scripts and its styles. */
import { html } from "./html.ts";
import { markdown } from "./markdown.ts";

export function fileOf(title: string, text: string): string {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<title>${title} · carryover</title>
<style>body{font:1rem/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem}table{border-collapse:collapse}td,th{border:1px solid;padding:.25rem .5rem;text-align:left}.scroll,pre{overflow-x:auto}</style></head>
<body><main>${markdown(text)}</main></body></html>
`.toString();
}
