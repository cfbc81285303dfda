/** The message of a list whose JSON comes in pieces. Elements are converted as they come, so that no more JSON is held than one piece. */
import type { DescMessage, JsonValue, Registry } from "@bufbuild/protobuf";
import { bytesOfLong } from "./long-messages.ts";

/** Part of a message, with `records` elements of its list. */
export interface MessagePart {
  readonly bytes: Uint8Array;
  readonly records: number;
}

/** A message of `type`; `prepare` may change each piece of its JSON. Its parts, one after the other, are its bytes. Throws Error for JSON that is no such message. */
export async function* partsOfList(
  type: DescMessage,
  pieces: AsyncIterable<Uint8Array>,
  registry: Registry,
  turn: () => Promise<void>,
  prepare?: (json: JsonValue) => void,
): AsyncGenerator<MessagePart, void> {
  const cutter = createListCutter();
  for await (const piece of pieces) {
    const cut = cutter.add(piece);
    if (cut === undefined) continue;
    yield { bytes: await bytesOfLong(type, cut.json, registry, turn, prepare), records: cut.records };
    await turn();
  }
  const rest = cutter.rest();
  yield { bytes: await bytesOfLong(type, rest.json, registry, turn, prepare), records: rest.records };
}

/** One object in JSON: `{"items":[…]}`. */
interface ListCut {
  readonly json: Uint8Array;
  readonly records: number;
}

/** Shorter runs of elements wait for more of them. */
const CUT_BYTES = 64 * 1024;
const NOTHING = Buffer.alloc(0);

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Takes whole elements out of the lists of an object whose JSON comes in pieces. Judges nothing: that is left to the conversion. */
export function createListCutter() {
  /** The JSON so far, without the elements that were cut out. */
  let text: Buffer = NOTHING;
  let at = 0;
  let depth = 0;
  let inString = false;
  let isEscaped = false;
  /** Where the last string of the object itself begins and ends: the name of the member that comes. */
  let nameFrom = 0;
  let nameTo = 0;
  /** Where the elements of the open list begin that are still here, and where the last of them ends that is followed by another. */
  let from = -1;
  let to = -1;
  let records = 0;

  const scan = (): void => {
    for (; at < text.length; at++) {
      const byte = text[at];
      if (inString) {
        if (isEscaped) isEscaped = false;
        else if (byte === BACKSLASH) isEscaped = true;
        else if (byte === QUOTE) {
          inString = false;
          if (depth === 1) nameTo = at + 1;
        }
      } else if (byte === QUOTE) {
        inString = true;
        if (depth === 1) nameFrom = at;
      } else if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
        depth += 1;
        if (depth === 2 && byte === OPEN_ARRAY) {
          from = at + 1;
          to = -1;
          records = 0;
        }
      } else if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) {
        if (depth === 2 && byte === CLOSE_ARRAY && text.subarray(from, at).toString().trim() !== "") records += 1;
        depth -= 1;
        if (depth === 1) from = -1;
      } else if (byte === COMMA && depth === 2 && from >= 0) {
        to = at;
        records += 1;
      }
    }
  };
  return {
    /** The elements that are whole, once there are enough of them. */
    add: (piece: Uint8Array): ListCut | undefined => {
      text = Buffer.concat([text, piece]);
      scan();
      if (from < 0 || to - from < CUT_BYTES) return undefined;
      const name = text.subarray(nameFrom, nameTo);
      const json = Buffer.concat([
        bytesOf(OPEN_OBJECT),
        name,
        bytesOf(COLON, OPEN_ARRAY),
        text.subarray(from, to),
        CLOSE,
      ]);
      const cut = { json, records };
      text = Buffer.concat([text.subarray(0, from), text.subarray(to + 1)]);
      at = text.length;
      to = -1;
      records = 0;
      return cut;
    },
    /** The rest of the object, once the last piece has come. */
    rest: (): ListCut => ({ json: text, records }),
  };
}

const CLOSE = bytesOf(CLOSE_ARRAY, CLOSE_OBJECT);

function bytesOf(...bytes: number[]): Buffer {
  return Buffer.from(bytes);
}
