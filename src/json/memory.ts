/**
 * The memory of one kernel. It may grow in any call into the kernel, which detaches every view of it: what is read there is gone, and
 * what is written there is lost. So everything that comes out of here is a value or a copy, never a view.
 */
import { decodeString } from "./text.ts";

/** WebAssembly's own. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer;
  /** Takes and returns pages of 64 KiB. */
  grow(pages: number): number;
}

/** Reads and writes bytes by address. `to` is the address after the last byte. */
export class KernelMemory {
  readonly #memory: WasmMemory;
  #view: Buffer;
  #words = new Int32Array(0);

  constructor(memory: WasmMemory) {
    this.#memory = memory;
    this.#view = Buffer.from(memory.buffer);
  }

  /** All bytes. A detached view is empty. */
  #bytes(): Buffer {
    if (this.#view.length === 0) this.#view = Buffer.from(this.#memory.buffer);
    return this.#view;
  }

  /** In bytes. */
  get size(): number {
    return this.#bytes().length;
  }

  byte(at: number): number {
    return this.#bytes()[at] as number;
  }

  setByte(at: number, value: number): void {
    this.#bytes()[at] = value;
  }

  /** 32 bits with a sign, as all words here. */
  word(at: number): number {
    return this.#bytes().readInt32LE(at);
  }

  setWord(at: number, value: number): void {
    this.#bytes().writeInt32LE(value, at);
  }

  /** In an array that the next call uses again: a new one each time costs more than everything that is done with it. */
  words(at: number, count: number): Int32Array {
    if (this.#words.length < count) this.#words = new Int32Array(count);
    this.#words.set(new Int32Array(this.#bytes().buffer, at, count));
    return this.#words.subarray(0, count);
  }

  set(at: number, bytes: Uint8Array): void {
    this.#bytes().set(bytes, at);
  }

  clear(from: number, to: number): void {
    this.#bytes().fill(0, from, to);
  }

  /** Copies `from..to` to `at`. */
  move(at: number, from: number, to: number): void {
    this.#bytes().copyWithin(at, from, to);
  }

  copy(from: number, to: number): Buffer {
    const copy = Buffer.allocUnsafe(to - from);
    this.copyInto(copy, 0, from, to);
    return copy;
  }

  copyInto(target: Buffer, at: number, from: number, to: number): void {
    this.#bytes().copy(target, at, from, to);
  }

  latin1(from: number, to: number): string {
    return this.#bytes().toString("latin1", from, to);
  }

  /** The string whose JSON token is there. */
  string(from: number, to: number): string {
    return decodeString(this.#bytes(), from, to);
  }
}
