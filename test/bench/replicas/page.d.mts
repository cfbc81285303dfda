/** The page with its figures made anew from what replicas.json holds. */
export function filledIn(page: string, results: unknown): string;
