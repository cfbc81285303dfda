/** The HTML document around what the page shows, and its smaller pages: a client, a confirmation, the login. */
import { type Html, html } from "./html.ts";

export interface Document {
  readonly title: string;
  readonly body: Html;
  /** Addresses of the assets. */
  readonly assets: { readonly css: string; readonly script: string; readonly icon: string };
}

/** HTML of the whole document. No script and no style is inline: the policy of the admin port forbids it. */
export function documentOf({ title, body, assets }: Document): string {
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="${assets.icon}" type="image/svg+xml"><link rel="stylesheet" href="${assets.css}"><script src="${assets.script}" defer></script></head>
<body><a class="skip" href="#main">Skip to the content</a>
${body}
</body></html>
`.toString();
}

/** A page with one panel. */
export function smallPage(look: Document["assets"], title: string, body: Html): string {
  return documentOf({
    title: `${title} · carryover`,
    assets: look,
    body: html`<header class="top"><div class="bar-in"><h1><a href="/"><span class="logo" aria-hidden="true"></span>carryover</a></h1><nav class="sections" aria-label="Back"><a href="/">← All sections</a></nav></div></header>
<main id="main" class="small">${body}</main>`,
  });
}
