/** Markdown as HTML, for the way out of a client. HTML in it is shown as text, and links to scripts are not links. */
import { raw } from "hono/html";
import MarkdownIt from "markdown-it";
import type { Html } from "./html.ts";

export function markdown(text: string): Html {
  const renderer = new MarkdownIt({ html: false, linkify: false });
  // Its links lead elsewhere: the page names them and does not follow them.
  renderer.disable(["image"]);
  const { fence } = renderer.renderer.rules;
  // Long lines scroll, and what scrolls must be reachable by keyboard.
  renderer.renderer.rules.fence = (...all) => fence?.(...all).replace("<pre>", '<pre tabindex="0">') ?? "";
  renderer.renderer.rules["table_open"] = () => '<div class="scroll" tabindex="0"><table>';
  renderer.renderer.rules["table_close"] = () => "</table></div>";
  // markdown-it escapes what it does not know.
  return raw(renderer.render(text)) as unknown as Html;
}
