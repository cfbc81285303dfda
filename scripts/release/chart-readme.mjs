/** The README of the packaged chart, which lies where the repository does not. (Pure: text in, text out.) */
import { posix } from "node:path";

const LINK = /\[([^\]\n]+)\]\(((?!https?:|#)[^)\s]+)\)/g;

/**
 * `text` with links that work from anywhere: `pages` is where the files of this version are shown. Without it a link out of the chart
 * becomes the file's name; those to the chart's own files stay.
 */
export function chartReadme(text, pages) {
  return text.replaceAll(LINK, (link, says, to) => {
    const path = posix.join("helm", to);
    if (pages !== undefined) return `[${says}](${pages}/${path})`;
    if (path.startsWith("helm/")) return link;
    const file = path.split("#")[0];
    return file.endsWith(says) ? `\`${file}\`` : `${says} (\`${file}\`)`;
  });
}

/** Where a version's files are shown, from the address of a repository: `git@host:a/b.git` or `https://host/a/b`. Undefined for others. */
export function pagesOf(repository, version) {
  const [, host, path] =
    /^(?:https:\/\/(?:[^@/]+@)?|(?:ssh:\/\/)?git@)([\w.-]+)[:/]([\w./-]+?)(?:\.git)?\/?$/.exec(repository) ?? [];
  return host === undefined ? undefined : `https://${host}/${path}/blob/v${version}`;
}
