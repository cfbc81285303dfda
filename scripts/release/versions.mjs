/** Where does the tree say which version it is? (Pure: file contents in, file contents out.) */
import { parseDocument, stringify } from "yaml";

/** Each file that names the version, and what it becomes, by what is known of the change (version, the one before, entries). */
export const EDITS = new Map([
  ["package.json", withVersion],
  ["package-lock.json", lockWithVersion],
  ["src/version.ts", sourceWithVersion],
  ["helm/Chart.yaml", chartWithVersion],
  ...[
    "Dockerfile",
    "deploy/compose/compose.yaml",
    "docs/deploy.md",
    "helm/README.md",
    "helm/ci/existing-values.yaml",
    ".github/ISSUE_TEMPLATE/bug.yml",
    ".github/ISSUE_TEMPLATE/difference.yml",
    ".github/ISSUE_TEMPLATE/wish.yml",
  ].map((file) => [file, (text, change) => textWithVersion(file, text, change)]),
]);

/** What may name the version before: what was, others' versions, an example of one to come. */
export const MAY_NAME_ANOTHER = ["CHANGELOG.md", "package-lock.json", "docs/release.md"];

/** Of an image, a file or an example: only after what says that it is carryover's. */
function textWithVersion(file, text, { version, current }) {
  const mention = /(\bcarryover[:-]|^ARG VERSION=|^ *(?:tag|placeholder): )(\d[\w.+-]*)/gm;
  const edited = text.replaceAll(mention, (whole, before, named) =>
    named === current || named.startsWith(`${current}.tgz`)
      ? `${before}${version}${named.slice(current.length)}`
      : whole,
  );
  if (edited === text) throw new Error(`${file}: it does not name ${current}, which is to become ${version}`);
  return edited;
}

function withVersion(text, { version }) {
  return `${JSON.stringify({ ...JSON.parse(text), version }, null, 2)}\n`;
}

function lockWithVersion(text, { version }) {
  const lock = JSON.parse(text);
  const packages = { ...lock.packages, "": { ...lock.packages[""], version } };
  return `${JSON.stringify({ ...lock, version, packages }, null, 2)}\n`;
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
