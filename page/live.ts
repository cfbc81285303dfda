/** Runs in the browser: replaces the parts of the page that changed, and shows times in the reader's own zone on hover. The page is complete without it. */
/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

const zone = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

function addZones(root: ParentNode): void {
  for (const one of root.querySelectorAll("time")) {
    const at = new Date(one.dateTime);
    if (!Number.isNaN(at.getTime())) one.title = `${zone.format(at)} (your time)`;
  }
}

function addCopying(root: ParentNode): void {
  for (const one of root.querySelectorAll<HTMLElement>("[data-copy]")) {
    const text = one.previousElementSibling?.textContent ?? "";
    const button = one.querySelector("button");
    if (button === null || navigator.clipboard === undefined) continue;
    one.hidden = false;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    });
  }
}

/** A reader who types in a part, or has selected text of it, keeps it as it is. */
function isInUse(part: Element): boolean {
  const { activeElement } = document;
  const isTyping = activeElement?.matches("input, select, button") === true && part.contains(activeElement);
  const selection = document.getSelection();
  const isSelecting = selection !== null && !selection.isCollapsed && part.contains(selection.anchorNode);
  return isTyping || isSelecting;
}

function replace(part: Element, text: string): void {
  const open = [...part.querySelectorAll("details")].map(({ id, open }) => [id, open] as const);
  const places = [...part.querySelectorAll(".scroll")].map((one) => [one.scrollLeft, one.scrollTop] as const);
  const focused = part.contains(document.activeElement) ? document.activeElement : null;
  const href = focused instanceof HTMLAnchorElement ? focused.getAttribute("href") : null;
  const summary = focused?.matches("summary") === true ? (focused.parentElement?.id ?? "") : "";
  part.innerHTML = text;
  for (const [id, isOpen] of open) {
    const found = id === "" ? null : document.getElementById(id);
    if (found instanceof HTMLDetailsElement) found.open = isOpen;
  }
  for (const [at, one] of part.querySelectorAll(".scroll").entries()) {
    const [left, top] = places[at] ?? [0, 0];
    one.scrollLeft = left;
    one.scrollTop = top;
  }
  if (href !== null) {
    const again = [...part.querySelectorAll("a")].find((one) => one.getAttribute("href") === href);
    again?.focus({ preventScroll: true });
  }
  if (summary !== "") document.getElementById(summary)?.querySelector("summary")?.focus({ preventScroll: true });
  addZones(part);
  addCopying(part);
}

function follow(address: string): void {
  const root = document.documentElement;
  const source = new EventSource(address);
  /** Of each part, the lines of its HTML. */
  const known = new Map<string, string[]>();
  const show = (id: string, lines: string[]): void => {
    known.set(id, lines);
    const part = document.getElementById(id);
    if (part !== null && !isInUse(part)) replace(part, lines.join("\n"));
  };
  source.addEventListener("open", () => root.setAttribute("data-connection", "live"));
  source.addEventListener("error", () => root.setAttribute("data-connection", "lost"));
  source.addEventListener("part", (event) => {
    const { id, html } = JSON.parse(event.data) as { id: string; html: string };
    show(id, html.split("\n"));
  });
  source.addEventListener("lines", (event) => {
    const { id, lines } = JSON.parse(event.data) as { id: string; lines: [at: number, line: string][] };
    const changed = new Map(lines);
    show(id, known.get(id)?.map((line, at) => changed.get(at) ?? line) ?? []);
  });
  // A hidden page needs no news; it catches up when it is looked at again.
  document.addEventListener(
    "visibilitychange",
    () => {
      if (document.hidden) source.close();
      document.addEventListener("visibilitychange", () => follow(address), { once: true });
    },
    { once: true },
  );
}

addZones(document);
addCopying(document);
const address = document.querySelector("[data-live]")?.getAttribute("data-live");
if (address) follow(address);
