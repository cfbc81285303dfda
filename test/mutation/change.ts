/** A change of a catalogue, and its place. */

/** Path of property names and indexes from the top of the catalogue. */
export type Place = readonly (string | number)[];
/** What is put at a place; `undefined` takes the property, or the element, away. */
export interface Change {
  readonly what: string;
  readonly place: Place;
  readonly value: unknown;
}

/** Where a row stands, and what it is used for. */
export interface Found<T> {
  readonly it: T;
  readonly place: Place;
  readonly label: string;
}
