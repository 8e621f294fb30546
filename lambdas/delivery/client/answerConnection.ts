/**
 * A connection between Node's HTTP client and a socket. It rewrites answers for Node's parser
 * (`AnswerFraming`). If bytes arrive that are not part of an answer, the connection is not reused, because
 * they would be read as the next answer.
 */
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { secondMs } from '../../shared/clock.ts';
import { AnswerFraming } from '../rules/answerFraming.ts';

/** The most bytes of a head: four times Node's default. */
export const maxHeadBytes = 65_536;

/** An idle connection is closed this long before its server would close it. */
const marginMs = secondMs;

export class AnswerConnection extends Duplex {
  readonly #socket: Socket;
  readonly #framing = new AnswerFraming(maxHeadBytes);
  #isIdle = false;

  constructor(socket: Socket) {
    super({ allowHalfOpen: false });
    this.#socket = socket;
    for (const event of ['connect', 'secureConnect', 'timeout']) {
      socket.on(event, () => this.emit(event));
    }
    socket.on('data', (bytes) => {
      this.#receive(bytes);
    });
    socket.on('end', () => {
      if (this.#isIdle) this.destroy();
      else this.push(null);
    });
    socket.on('error', (error) => this.destroy(error));
    // An answer that was not read yet is kept.
    socket.on('close', () => {
      if (!socket.readableEnded) this.destroy();
    });
  }

  /** How long the server keeps the connection idle, less a margin (milliseconds), if it says so. */
  get idleMs(): number | undefined {
    const { keepAliveMs } = this.#framing;
    return keepAliveMs === undefined ? undefined : keepAliveMs - marginMs;
  }

  /** Makes the connection idle. @returns whether it may be reused */
  rest(): boolean {
    // The server may have closed its side after the answer.
    this.#isIdle = this.#framing.isReusable && this.#socket.readable && this.#socket.writable;
    return this.#isIdle;
  }

  reuse(): void {
    this.#isIdle = false;
    this.#framing.begin();
  }

  #receive(bytes: Buffer): void {
    if (this.#isIdle) {
      this.destroy();
      return;
    }
    for (const piece of this.#framing.read(bytes)) {
      if (!this.push(piece)) this.#socket.pause();
    }
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, done);
  }

  override _writev(
    chunks: readonly { readonly chunk: Uint8Array }[],
    done: (error?: Error | null) => void,
  ): void {
    const last = chunks.length - 1;
    this.#socket.cork();
    for (const [index, { chunk }] of chunks.entries()) {
      if (index === last) this.#socket.write(chunk, done);
      else this.#socket.write(chunk);
    }
    this.#socket.uncork();
  }

  override _final(done: () => void): void {
    this.#socket.end(done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy();
    done(error);
  }

  /** Closes the connection after everything is written, even if the server does not close its side. */
  destroySoon(): void {
    if (this.writable) this.end();
    if (this.writableFinished) this.destroy();
    else this.once('finish', () => this.destroy());
  }

  get timeout(): number | undefined {
    return this.#socket.timeout;
  }

  setTimeout(timeoutMs: number): this {
    this.#socket.setTimeout(timeoutMs);
    return this;
  }

  setKeepAlive(isEnabled: boolean, initialDelayMs: number): this {
    this.#socket.setKeepAlive(isEnabled, initialDelayMs);
    return this;
  }

  ref(): this {
    this.#socket.ref();
    return this;
  }

  unref(): this {
    this.#socket.unref();
    return this;
  }
}
