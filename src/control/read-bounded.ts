/** How is a file read that may be anything: huge, a directory, a pipe, gone? */
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";

/** Larger than any rules file that people write. */
const MAX_BYTES = 1024 ** 2;

/**
 * The bytes of the file at `path`, links followed. Rejects when it cannot be read, is no file, or has more than `maxBytes`:
 * of such a one no more than that is read.
 */
export async function readBounded(path: string, maxBytes: number = MAX_BYTES): Promise<Uint8Array> {
  // A pipe would otherwise wait for somebody to write into it, in one of the few threads that read files.
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw new Error(stat.isDirectory() ? "it is a directory" : "it is no file");
    return await readAll(handle, maxBytes);
  } finally {
    await handle.close();
  }
}

/** What counts is what comes: some files have no size (those of /proc), and others grow while they are read. */
async function readAll(handle: FileHandle, maxBytes: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const piece = Buffer.alloc(PIECE_BYTES);
    const { bytesRead } = await handle.read(piece, 0, PIECE_BYTES);
    if (bytesRead === 0) return Buffer.concat(pieces, length);
    pieces.push(piece.subarray(0, bytesRead));
    length += bytesRead;
    if (length > maxBytes) throw new Error(`it has more than ${maxBytes} bytes`);
  }
}

const PIECE_BYTES = 64 * 1024;
