/** The page with its figures regenerated from what replicas.json holds. */
export function filledIn(page: string, results: unknown): string;
