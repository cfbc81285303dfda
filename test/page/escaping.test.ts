/** No text from outside becomes markup, wherever it is shown. */
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { wayOut, wayOutOptions } from "../../src/ledger/way-out.ts";
import { clientPage } from "../../src/page/client.ts";
import { faultPage, forcePage, loginPage } from "../../src/page/forms.ts";
import { cut, geometry, html, link } from "../../src/page/html.ts";
import { markdown } from "../../src/page/markdown.ts";
import { renderPage } from "../../src/page/page.ts";
import { HOSTILE_TEXTS } from "../support/hostile/markup.ts";
import { skeleton, UNPRINTABLE } from "../support/hostile/skeleton.ts";
import { sharedCatalogue } from "../support/shared.ts";
import { AT, clientOf, pageData } from "./data.ts";

const assets = { css: "/page/assets/a.css", script: "/page/assets/a.js", icon: "/page/assets/a.svg" };
const PLAIN = "plain";

const page = (text: string, query = "") =>
  renderPage(pageData(text), new URLSearchParams({ q: query, kind: query, resource: query }), { assets });

const SMALL: readonly ((text: string) => string)[] = [
  (text) => faultPage(text, text, assets),
  (text) => loginPage({ to: text, isWrong: true, which: text }, assets),
  (text) =>
    forcePage(
      { command: undefined, reason: text, by: text, formToken: text, fault: text, force: text, hasNative: true },
      assets,
    ),
  (text) =>
    forcePage(
      { command: "native", reason: text, by: text, formToken: text, fault: text, force: text, hasNative: true },
      assets,
    ),
  (text) => clientPage({ entry: clientOf(text), wayOut: "", at: AT, samples: pageData(text).samples.samples }, assets),
];

it("the corpus has 200 texts, each once", () => {
  expect(new Set(HOSTILE_TEXTS).size).toBe(200);
});

describe("a page with a hostile text in every place", () => {
  const expected = skeleton(page(PLAIN));
  const pages = new Map<string, string>();
  beforeAll(() => {
    for (const text of HOSTILE_TEXTS) pages.set(text, page(text));
  });

  it("has the same elements and attributes as with a plain one", () => {
    for (const [text, whole] of pages) {
      const found = skeleton(whole);
      expect([text, found.tags]).toEqual([text, expected.tags]);
    }
  }, 60_000);

  it("leads nowhere but to this port", () => {
    for (const [text, whole] of pages) {
      const outside = skeleton(whole).addresses.filter((one) => !/^(?:\/(?![/\\])|#)/.test(one));
      expect([text, outside]).toEqual([text, []]);
    }
  }, 60_000);

  it("is the same for a hostile filter", () => {
    const plain = skeleton(page(PLAIN, "nothing of that name"));
    for (const text of HOSTILE_TEXTS) expect([text, skeleton(page(PLAIN, text)).tags]).toEqual([text, plain.tags]);
  }, 60_000);

  it("shows no character that reorders, hides or ends what surrounds it", () => {
    for (const [text, whole] of pages) expect([text, UNPRINTABLE.exec(whole)]).toEqual([text, null]);
  }, 60_000);
});

describe("the smaller pages", () => {
  it.each(SMALL.map((render, at) => [at, render] as const))(
    "%i has the same elements as with a plain text",
    (_, render) => {
      const plain = skeleton(render(PLAIN)).tags;
      for (const text of HOSTILE_TEXTS) expect([text, skeleton(render(text)).tags]).toEqual([text, plain]);
    },
  );

  it("a way out has the elements of Markdown only, and no address of a script", async () => {
    const options = wayOutOptions(await sharedCatalogue("v2beta1"), "all");
    const allowed =
      /^<\/?(?:h[1-4]|p|ul|ol|li|code|pre|table|thead|tbody|tr|th|td|div|strong|em|a|hr|br|blockquote|s)(?: (?:class|href|tabindex|start|title|id|aria-[a-z]+|role|datetime))*\s*\/?>$/;
    for (const text of HOSTILE_TEXTS) {
      const whole = clientPage(
        {
          entry: clientOf(text),
          wayOut: wayOut(clientOf(text), options),
          at: AT,
          samples: pageData(text).samples.samples,
        },
        assets,
      );
      const section = whole.slice(whole.indexOf('<section class="panel markdown"'), whole.lastIndexOf("</section>"));
      const { tags, addresses } = skeleton(section.slice(section.indexOf(">") + 1));
      expect([text, tags.split("\n").filter((tag) => !allowed.test(tag))]).toEqual([text, []]);
      expect([text, addresses.filter((one) => /^\s*(?:javascript|vbscript|data):/i.test(one))]).toEqual([text, []]);
    }
  }, 60_000);
});

describe("Markdown", () => {
  it("shows HTML as text, loads no picture, and links to no script", () => {
    const found = markdown(
      '<script>x</script>\n\na <b onclick="x">b</b> [c](javascript:x) ![d](https://e.example/f.png)',
    ).toString();
    expect(found).toContain("&lt;script&gt;x&lt;/script&gt;");
    expect(found).not.toMatch(/<(?:script|b|img)|href="javascript/);
  });
});

describe("the template", () => {
  it("escapes texts, keeps finished HTML, and cuts what is too long", () => {
    expect(
      html`<p title="${'"'}">${"<b>"}${html`<i>${1}</i>`}${[html`a`, "&"]}${false}${undefined}</p>`.toString(),
    ).toBe('<p title="&quot;">&lt;b&gt;<i>1</i>a&amp;</p>');
    expect(html`${"x".repeat(9_000)}`.toString()).toHaveLength(2_000);
    expect(cut("aa\ud83d\ude00", 3)).toBe("aa…");
  });

  it("takes no path of SVG that is more than geometry", () => {
    expect(geometry("M0 1.5L2,3e-7Z").toString()).toBe("M0 1.5L2,3e-7Z");
    expect(() => geometry('"><script>')).toThrow("not geometry");
  });

  it("encodes what it puts into an address", () => {
    expect(link("/page/client", { client: "a&b=c#d", none: undefined }, "rules")).toBe(
      "/page/client?client=a%26b%3Dc%23d#rules",
    );
  });

  it("is bypassed in two places only: checked geometry, and Markdown", () => {
    const folder = resolve(import.meta.dirname, "../../src/page");
    const found = readdirSync(folder).filter((file) => /\braw\b/.test(readFileSync(join(folder, file), "utf8")));
    expect(found).toEqual(["html.ts", "markdown.ts"]);
  });

  it("has every value of an attribute in quotes", () => {
    const folder = resolve(import.meta.dirname, "../../src/page");
    const found = readdirSync(folder).flatMap((file) => {
      return [...readFileSync(join(folder, file), "utf8").matchAll(/\s[a-z-]+=\$\{/g)].map(
        ([text]) => `${file}:${text}`,
      );
    });
    expect(found).toEqual([]);
  });
});
