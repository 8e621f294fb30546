/** JSON messages over a socket, one a line. */
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';

interface Kinded {
  readonly kind: string;
}

interface LineOptions<Got> {
  readonly socket: Socket;
  readonly parse: (message: unknown) => Got;
  readonly onMessage?: (message: Got) => void;
}

export class Line<Sent, Got extends Kinded> {
  readonly closed: Promise<void>;
  readonly #socket: Socket;
  readonly #waiting = new Set<(message: Got) => void>();

  constructor({ socket, parse, onMessage }: LineOptions<Got>) {
    this.#socket = socket;
    // A killed process resets it.
    socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => {
      socket.once('close', () => {
        resolve();
      });
    });
    createInterface({ input: socket })
      .on('error', () => undefined)
      .on('line', (text) => {
        const message = parse(JSON.parse(text));
        for (const take of this.#waiting) take(message);
        onMessage?.(message);
      });
  }

  tell(message: Sent): void {
    this.#socket.write(`${JSON.stringify(message)}\n`);
  }

  /** Resolves with the next message of a kind, or with undefined if the line is closed before. */
  async told<Kind extends Got['kind']>(
    kind: Kind,
  ): Promise<Extract<Got, { readonly kind: Kind }> | undefined> {
    let take: (message: Got) => void = () => undefined;
    const told = new Promise<Extract<Got, { readonly kind: Kind }>>((resolve) => {
      take = (message) => {
        if (isOfKind(message, kind)) resolve(message);
      };
    });
    this.#waiting.add(take);
    try {
      return await Promise.race([told, this.closed.then(() => undefined)]);
    } finally {
      this.#waiting.delete(take);
    }
  }

  close(): void {
    this.#socket.destroy();
  }
}

const isOfKind = <Message extends Kinded, Kind extends Message['kind']>(
  message: Message,
  kind: Kind,
): message is Extract<Message, { readonly kind: Kind }> => message.kind === kind;
