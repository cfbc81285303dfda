/** Writes the lines of a recording behind the requests: bounded in memory, in size and in number of files. */
import { randomBytes } from "node:crypto";
import { constants, createReadStream, createWriteStream } from "node:fs";
import { type FileHandle, open, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Timer } from "../model/clock.ts";

export interface RecordingWriterOptions {
  readonly file: string;
  /** Size at which a file is closed and compressed. */
  readonly fileBytes: number;
  /** Compressed files that are kept. */
  readonly files: number;
  readonly later: Timer;
  /** Milliseconds since 1970. */
  readonly wall: () => number;
  /** Hears once that the file cannot be written, and once that it can be again; `lost`: lines dropped meanwhile. */
  readonly failed: (cause: unknown) => void;
  readonly recovered: (lost: number) => void;
  /** Hears once that another process writes to the file as well. No line of either is lost or torn by that. */
  readonly shared: () => void;
  /** Makes the line that says how many lines are missing. */
  readonly gap: (lost: number) => string;
}

/** Since the start of the process. */
export interface RecordingCounts {
  readonly lines: number;
  readonly bytes: number;
  /** Lines that were dropped, since the file could not be written in time. */
  readonly dropped: number;
  readonly isFailing: boolean;
}

export interface RecordingWriter {
  /** Opens the file. Rejects when that is impossible. */
  open(): Promise<void>;
  /** Takes a line, or drops and counts it. Never waits, never throws. */
  write(line: string): void;
  counts(): RecordingCounts;
  /** Resolves when the lines so far are written, or dropped. */
  flush(): Promise<void>;
  /** Writes what waits, and ends. */
  close(): Promise<void>;
}

const FLUSH_MS = 250;
/** Lines that wait for the disk; further ones are dropped. */
const MAX_WAITING_BYTES = 4 * 1024 ** 2;
/** How long a file that cannot be written is left alone. */
const RETRY_MS = 30_000;
/** Other processes that share the file have turned to the new one by then. */
const COMPRESS_AFTER_MS = 4 * FLUSH_MS;
/** For the owner only. */
const PRIVATE = 0o600;
const FLAGS = constants.O_APPEND | constants.O_CREAT | constants.O_RDWR;
const NEW_LINE = 0x0a;

export function createRecordingWriter(options: RecordingWriterOptions): RecordingWriter {
  const { file, fileBytes, files, later, wall, failed, recovered, shared, gap } = options;
  let waiting: string[] = [];
  let waitingBytes = 0;
  let lost = 0;
  let [lines, bytes, dropped] = [0, 0, 0];
  let handle: FileHandle | undefined;
  /** What the size of the open file would be without another process. */
  let ownSize = 0;
  let isShared = false;
  /** The file may end within a line. */
  let torn = false;
  let failing = false;
  let retryAt = 0;
  let closed = false;
  let work: Promise<void> = Promise.resolve();
  let compressing: Promise<void> = Promise.resolve();
  let cancel: (() => void) | undefined;

  const openFile = async (): Promise<FileHandle> => {
    const opened = await open(file, FLAGS, PRIVATE);
    try {
      const { size } = await opened.stat();
      const last = Buffer.alloc(1, NEW_LINE);
      if (size > 0) await opened.read(last, 0, 1, size - 1);
      torn = last[0] !== NEW_LINE;
      ownSize = size;
    } catch (error) {
      await opened.close();
      throw error;
    }
    return opened;
  };
  const shut = async (): Promise<void> => {
    const open = handle;
    handle = undefined;
    await open?.close().catch(() => {});
  };
  /** False for a file that was moved away, as by a rotation. */
  const isInPlace = async (open: FileHandle): Promise<boolean> => {
    const [there, own] = await Promise.all([stat(file).catch(() => undefined), open.stat()]);
    return there?.ino === own.ino && there.dev === own.dev;
  };
  /** The open file; a new one where it was moved away. */
  const current = async (): Promise<FileHandle> => {
    if (handle !== undefined && !(await isInPlace(handle))) await shut();
    handle ??= await openFile();
    return handle;
  };
  const rotate = async (): Promise<void> => {
    const time = new Date(wall()).toISOString().replaceAll(/[-:]/g, "");
    const name = `${file}.${time}-${randomBytes(3).toString("hex")}`;
    const open = handle;
    if (open === undefined || !(await isInPlace(open))) return;
    try {
      await rename(file, name);
    } catch (error) {
      // Another process that shares the file was quicker.
      if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
      return;
    }
    await shut();
    compressing = compressing.then(async () => {
      await new Promise<void>((resolve) => (closed ? resolve() : later(COMPRESS_AFTER_MS, resolve)));
      await compress(name).catch(failed);
      await prune(file, files).catch(failed);
    });
  };
  const writeOut = async (): Promise<void> => {
    const batch = waiting;
    if (batch.length === 0 && lost === 0) return;
    if (failing && wall() < retryAt && !closed) return;
    waiting = [];
    waitingBytes = 0;
    const missing = lost;
    let unwritten = batch.length;
    try {
      const open = await current();
      const { size } = await open.stat();
      if (size > ownSize && !isShared) shared();
      isShared ||= size > ownSize;
      const start = torn ? "\n" : "";
      const text = Buffer.from(start + (missing > 0 ? gap(missing) : "") + batch.join(""));
      torn = true;
      await append(open, text);
      torn = false;
      unwritten = 0;
      lost -= missing;
      lines += batch.length;
      bytes += text.length;
      if (failing) recovered(missing);
      failing = false;
      ownSize = size + text.length;
      if ((await open.stat()).size >= fileBytes) await rotate();
    } catch (error) {
      lost += unwritten;
      dropped += unwritten;
      retryAt = wall() + RETRY_MS;
      await shut();
      if (!failing) failed(error);
      failing = true;
    }
  };
  const flush = (): Promise<void> => {
    cancel?.();
    cancel = undefined;
    work = work.then(writeOut);
    return work;
  };
  return {
    async open() {
      handle = await openFile();
    },
    write(line) {
      if (closed || waitingBytes + line.length > MAX_WAITING_BYTES) {
        lost += 1;
        dropped += 1;
        return;
      }
      waiting.push(line);
      waitingBytes += line.length;
      cancel ??= later(FLUSH_MS, () => void flush());
    },
    counts: () => ({ lines, bytes, dropped, isFailing: failing }),
    flush,
    async close() {
      closed = true;
      await flush();
      await compressing;
      await shut();
    },
  };
}

/** In one write where the system takes it so: lines of another process then stand between these, not in them. */
async function append(open: FileHandle, text: Buffer): Promise<void> {
  for (let done = 0; done < text.length; ) done += (await open.write(text, done)).bytesWritten;
}

/** Replaces a file by its compressed form, which is there whole or not at all. */
async function compress(name: string): Promise<void> {
  const part = `${name}.gz.part`;
  try {
    await pipeline(createReadStream(name), createGzip(), createWriteStream(part, { mode: PRIVATE }));
    await rename(part, `${name}.gz`);
    await rm(name);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

const ROTATED = /^\.\d{8}T\d{6}\.\d{3}Z(?:-[0-9a-f]{6})?(?:\.gz)?$/;

/** Deletes the oldest rotated files beyond `files`: also those that could not be compressed, which would fill the disk. */
async function prune(file: string, files: number): Promise<void> {
  const [folder, name] = [dirname(file), basename(file)];
  const rotated = (await readdir(folder)).filter(
    (each) => each.startsWith(name) && ROTATED.test(each.slice(name.length)),
  );
  for (const each of rotated.sort().slice(0, -files)) await rm(join(folder, each), { force: true });
}
