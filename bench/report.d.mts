interface Goal {
  readonly key: string;
  readonly what: string;
  readonly against: string;
  readonly gate?: number;
}
/** Which `goals` of a quick run fell below their record, or have none. */
export function beneathRecorded(goals: readonly Goal[], recorded: unknown): readonly { key: string; why: string }[];
