/** News of a page whose whole content changes each time. */
import type { AdminPage } from "../../src/page/views.ts";

export function changingNews(text: () => string): AdminPage["news"] {
  const last = new Map<string, number>();
  return async (turn, asked) => {
    const part = Buffer.from(`event: part\ndata: ${JSON.stringify({ id: "rules", html: text() })}\n\n`);
    const found = asked.map(({ query }) => {
      const before = last.get(query);
      last.set(query, turn);
      return { query, before, changes: part, whole: part };
    });
    return { found, restMs: 0 };
  };
}
