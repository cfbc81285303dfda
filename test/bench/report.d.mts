interface Goal {
  readonly key: string;
  readonly what: string;
  readonly against: string;
  readonly gate?: number;
}
/** What is wrong with the `goals` of a quick run, beside what is recorded. */
export function beneathRecorded(goals: readonly Goal[], recorded: unknown): readonly string[];
