/**
 * The answers on one connection. Each is rewritten for Node's parser, and ends where its head says.
 *
 * Regular bytes are passed on without a copy. If bytes follow an answer's end, they are dropped and the
 * connection is not reused, because they would be read as the next answer. Invalid bytes are passed on, and
 * Node's parser refuses them.
 *
 * The states of an answer, in order:
 *
 * 1. `head`. A head with a status of 1XX is followed by another.
 * 2. `bytes`, `untilClose`, or for each chunk `size`, `extension` or `sizeEnd`, `data` and `dataEnd`;
 * `trailers` follow the last.
 * 3. `over`.
 *
 * Invalid bytes lead from each state to `refused`.
 */
import { readAnswerHead } from './answerHead.ts';

const CR = 13;
const LF = 10;
const SPACE = 32;
const TAB = 9;
const SEMICOLON = 59;
const start = Buffer.from('HTTP/');
const lineEnd = Buffer.from('\r\n');
const carriageReturn = Buffer.from('\r');
const space = Buffer.from(' ');

const mostDigits = 13;

/** @returns NaN if the character is not a hexadecimal digit */
const digitOf = (byte: number): number => Number.parseInt(String.fromCharCode(byte), 16);

type State =
  | 'head'
  | 'bytes'
  | 'untilClose'
  | 'size'
  | 'extension'
  | 'sizeEnd'
  | 'data'
  | 'dataEnd'
  | 'trailers'
  | 'over'
  | 'refused';

export class AnswerFraming {
  readonly #maxHeadBytes: number;
  #state: State = 'head';
  #isRegular = true;
  #keepAliveMs: number | undefined;
  #pieces: Buffer[] = [];
  /** Bytes of the head or the trailers that were read. */
  #headBytes = 0;
  /** Bytes of the current line that were read, without its end. */
  #lineBytes = 0;
  /** Bytes of the body or chunk that are still to come. */
  #remaining = 0;
  /** Digits of the chunk's size that were read. */
  #digits = 0;

  // The bytes that are being read; up to where they were passed on or left out; and the output.
  #input: Buffer = Buffer.alloc(0);
  #from = 0;
  #output: Buffer[] = [];

  /** @param maxHeadBytes a larger head is passed on unchanged, and Node's parser refuses it */
  constructor(maxHeadBytes: number) {
    this.#maxHeadBytes = maxHeadBytes;
  }

  /** Whether the answer was complete and regular, and no bytes followed it. */
  get isReusable(): boolean {
    return this.#state === 'over' && this.#isRegular;
  }

  /** How long the server keeps an idle connection, if its last answer says so: milliseconds. */
  get keepAliveMs(): number | undefined {
    return this.#keepAliveMs;
  }

  begin(): void {
    this.#enterHead();
  }

  /** @returns the bytes for Node's parser */
  read(input: Buffer): readonly Buffer[] {
    this.#input = input;
    this.#from = 0;
    this.#output = [];
    let at = 0;
    while (at < input.length) at = this.#step(at);
    this.#passOn(input.length);
    return this.#output;
  }

  /** Reads from a position. @returns the position up to which it read */
  #step(at: number): number {
    switch (this.#state) {
      case 'head':
        return this.#readHead(at);
      case 'bytes':
        return this.#readBytes(at, 'over');
      case 'data':
        return this.#readBytes(at, 'dataEnd');
      case 'size':
        return this.#readSize(at);
      case 'sizeEnd':
        return this.#readSizeEnd(at);
      case 'extension':
        return this.#readExtension(at);
      case 'dataEnd':
        return this.#readLineEnd(at, () => {
          this.#enterSize();
        });
      case 'trailers':
        return this.#readTrailers(at);
      case 'over':
        this.#isRegular = false;
        this.#passOn(at, this.#input.length);
        return this.#input.length;
      case 'untilClose':
      case 'refused':
        return this.#input.length;
    }
  }

  /** Passes on the bytes before `until`. Those from there to `from` are left out. */
  #passOn(until: number, from = until): void {
    if (until > this.#from) this.#output.push(this.#input.subarray(this.#from, until));
    this.#from = from;
  }

  #insert(bytes: Buffer): void {
    this.#output.push(bytes);
    this.#isRegular = false;
  }

  #refuse(at: number): number {
    // Spaces after the size were left out. The bytes that follow must not become part of it.
    if (this.#state === 'sizeEnd') {
      this.#passOn(at);
      this.#insert(space);
    }
    this.#state = 'refused';
    this.#isRegular = false;
    return at;
  }

  #enterHead(): void {
    this.#state = 'head';
    this.#headBytes = 0;
    this.#lineBytes = 0;
  }

  #enterSize(): void {
    this.#state = 'size';
    this.#digits = 0;
    this.#remaining = 0;
  }

  #readHead(from: number): number {
    for (let at = from; at < this.#input.length; at += 1) {
      const byte = this.#input[at] ?? 0;
      const isWrong = this.#headBytes < start.length && byte !== start[this.#headBytes];
      if (isWrong || this.#headBytes >= this.#maxHeadBytes) {
        this.#output.push(...this.#pieces.splice(0));
        return this.#refuse(at);
      }
      this.#headBytes += 1;
      if (byte === LF) {
        if (this.#lineBytes === 0) return this.#endHead(at + 1);
        this.#lineBytes = 0;
      } else if (byte !== CR) {
        this.#lineBytes += 1;
      }
    }
    this.#pieces.push(this.#input.subarray(this.#from));
    this.#from = this.#input.length;
    return this.#input.length;
  }

  #endHead(end: number): number {
    const pieces = this.#pieces.splice(0);
    const rest = this.#input.subarray(this.#from, end);
    const received = (pieces.length === 0 ? rest : Buffer.concat([...pieces, rest])).toString('latin1');
    const head = readAnswerHead(received);
    const text = head?.text ?? received;
    if (pieces.length > 0 || text !== received) {
      this.#output.push(Buffer.from(text, 'latin1'));
      this.#from = end;
    }
    if (head === undefined) return this.#refuse(end);
    this.#isRegular &&= head.isRegular;
    this.#keepAliveMs = head.keepAliveMs;
    // After a 101 comes another protocol, which is not supported.
    if (head.status === 101) return this.#refuse(end);
    if (head.status < 200) {
      this.#passOn(end);
      this.#enterHead();
    } else if (head.framing === 'chunked') this.#enterSize();
    else if (head.framing === 'untilClose') this.#state = 'untilClose';
    else {
      this.#remaining = head.framing.bytes;
      this.#state = this.#remaining === 0 ? 'over' : 'bytes';
    }
    return end;
  }

  #readBytes(at: number, next: 'over' | 'dataEnd'): number {
    const read = Math.min(this.#remaining, this.#input.length - at);
    this.#remaining -= read;
    if (this.#remaining === 0) {
      this.#state = next;
      this.#lineBytes = 0;
    }
    return at + read;
  }

  #readSize(at: number): number {
    const byte = this.#input[at] ?? 0;
    const digit = digitOf(byte);
    if (!Number.isNaN(digit)) {
      this.#digits += 1;
      if (this.#digits > mostDigits) return this.#refuse(at);
      this.#remaining = this.#remaining * 16 + digit;
      return at + 1;
    }
    if (this.#digits === 0) return this.#refuse(at);
    this.#state = 'sizeEnd';
    this.#lineBytes = 0;
    return at;
  }

  #readSizeEnd(at: number): number {
    const byte = this.#input[at];
    if (this.#lineBytes === 0 && byte === SEMICOLON) {
      this.#state = 'extension';
      return at + 1;
    }
    if (this.#lineBytes === 0 && (byte === SPACE || byte === TAB)) {
      // Node's parser accepts no space after a size.
      this.#passOn(at, at + 1);
      this.#isRegular = false;
      return at + 1;
    }
    return this.#readLineEnd(at, () => {
      this.#endSizeLine();
    });
  }

  /** Extensions are left out, because Node's parser limits them. */
  #readExtension(at: number): number {
    const end = this.#input.indexOf(LF, at);
    if (end === -1) {
      this.#lineBytes = this.#input.at(-1) === CR ? 1 : 0;
      return this.#input.length;
    }
    const hasReturn = end === at ? this.#lineBytes === 1 : this.#input[end - 1] === CR;
    this.#lineBytes = hasReturn ? 1 : 0;
    return this.#readLineEnd(end, () => {
      this.#endSizeLine();
    });
  }

  #endSizeLine(): void {
    this.#state = this.#remaining === 0 ? 'trailers' : 'data';
    this.#headBytes = 0;
    this.#lineBytes = 0;
  }

  /**
   * Reads the end of a line. If it is a single LF, adds the CR that Node's parser requires. After a CR,
   * `lineBytes` is 1.
   */
  #readLineEnd(at: number, end: () => void): number {
    const byte = this.#input[at];
    if (byte === CR && this.#lineBytes === 0) {
      this.#lineBytes = 1;
      return at + 1;
    }
    if (byte !== LF) return this.#refuse(at);
    if (this.#lineBytes === 0) {
      this.#passOn(at);
      this.#insert(carriageReturn);
    }
    end();
    return at + 1;
  }

  /** Leaves out trailers. If there are too many, they are passed on, and Node's parser refuses them. */
  #readTrailers(from: number): number {
    if (this.#headBytes === 0) this.#passOn(from);
    for (let at = from; at < this.#input.length; at += 1) {
      if (this.#headBytes >= this.#maxHeadBytes) {
        this.#passOn(this.#from, at);
        return this.#refuse(at);
      }
      const byte = this.#input[at];
      this.#headBytes += 1;
      if (byte !== LF) {
        if (byte !== CR) this.#lineBytes += 1;
        continue;
      }
      if (this.#lineBytes === 0) {
        this.#output.push(lineEnd);
        this.#from = at + 1;
        this.#state = 'over';
        return at + 1;
      }
      this.#lineBytes = 0;
    }
    this.#from = this.#input.length;
    return this.#input.length;
  }
}
