/** What a release changes in files, beside what `npm version` does. (Pure: text in, text out.) */
import { parseDocument, stringify } from "yaml";

/** Each other file that names the version, and what it becomes, by what is known of the change (version, the one before, entries). */
export const EDITS = new Map([
  ["src/version.ts", sourceWithVersion],
  ["helm/Chart.yaml", chartWithVersion],
  ...[
    "Dockerfile",
    "deploy/compose/compose.yaml",
    "deploy/compose/replicas.yaml",
    "deploy/compose/shared-port.yaml",
    "deploy/compose/trial.yaml",
    "docs/deploy.md",
    "docs/status.md",
    "helm/README.md",
    "helm/ci/existing-values.yaml",
    ".github/ISSUE_TEMPLATE/bug.yml",
    ".github/ISSUE_TEMPLATE/difference.yml",
    ".github/ISSUE_TEMPLATE/wish.yml",
  ].map((file) => [file, (text, change) => textWithVersion(file, text, change)]),
]);

/** What may name the version before: what was, others' versions, an example of one to come. */
export const MAY_NAME_ANOTHER = [
  "CHANGELOG.md",
  "package-lock.json",
  "docs/release.md",
  "scripts/install-state-tools.sh",
];

/** Of an image, a file or an example: only after what says that it is carryover's. */
function textWithVersion(file, text, { version, current }) {
  const mention = /(\bcarryover[:-]|^ARG VERSION=|^ *(?:tag|placeholder): | started +version )(\d[\w.+-]*)/gm;
  const edited = text.replaceAll(mention, (whole, before, named) =>
    named === current || named.startsWith(`${current}.tgz`)
      ? `${before}${version}${named.slice(current.length)}`
      : whole,
  );
  if (edited === text) throw new Error(`${file}: it does not name ${current}, which is to become ${version}`);
  return edited;
}

function sourceWithVersion(text, { version }) {
  const line = /^export const VERSION = "[^"]*";$/m;
  if (!line.test(text)) throw new Error('src/version.ts: there is no line `export const VERSION = "…";`');
  return text.replace(line, `export const VERSION = "${version}";`);
}

/** The chart is released with the program, under the same version; its list of changes is the changelog's. */
function chartWithVersion(text, { version, entries, prerelease }) {
  const chart = parseDocument(text);
  for (const key of ["version", "appVersion"]) {
    if (!chart.has(key)) throw new Error(`helm/Chart.yaml: there is no ${key}`);
    chart.set(key, version);
  }
  const changes = entries.map((description) => ({ kind: "changed", description }));
  chart.setIn(["annotations", "artifacthub.io/changes"], stringify(changes, { lineWidth: 0 }));
  chart.setIn(["annotations", "artifacthub.io/prerelease"], String(prerelease));
  return chart.toString({ lineWidth: 0 });
}

const NEXT = /^## Next *$/m;

/**
 * `text` with its section `## Next` become that of `version`, and that section's own text and entries. Throws where there is
 * none, or nothing in it.
 */
export function released(text, version, date) {
  const start = text.search(NEXT);
  if (start < 0)
    throw new Error('CHANGELOG.md: there is no section "## Next"; write down what changed under that heading');
  const body = text.slice(start).replace(NEXT, "");
  const end = body.search(/^## /m);
  const section = (end < 0 ? body : body.slice(0, end)).trim();
  const entries = entriesOf(section);
  if (entries.length === 0) throw new Error('CHANGELOG.md: the section "## Next" has no entry; begin each with "- "');
  return { text: text.replace(NEXT, `## ${version} - ${date}`), section, entries };
}

/** Each list item as one line of plain text. */
function entriesOf(section) {
  return section
    .split(/^- /m)
    .slice(1)
    .map((item) => item.split(/\n\s*\n/)[0] ?? "")
    .map((item) =>
      item
        .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
        .replaceAll(/\s+/g, " ")
        .trim(),
    )
    .filter((item) => item !== "");
}
