/** A part of the types of Next.js, which is too large to install for the documents’ programs. */
import type { IncomingMessage, ServerResponse } from 'node:http';

export type NextApiHandler = (
  request: IncomingMessage & { readonly body: unknown },
  response: ServerResponse & { json(body: object): void },
) => unknown;
