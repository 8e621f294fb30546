import { createHmac, timingSafeEqual } from 'node:crypto';
import { badRequest } from '../error/httpError.ts';

/** The orders of a list: by time, and at one time by id. */
export const orders = ['latestFirst', 'earliestFirst'] as const;
export type Order = (typeof orders)[number];

/**
 * A place in a list: behind the row with this time and id. A client gets it sealed, as a cursor, and so
 * cannot make one up.
 */
export interface Place {
  /** Unix milliseconds. */
  readonly time: number;
  readonly id: string;
  /** Entries of that row that were shown already; absent when all were. */
  readonly shown?: number | undefined;
}

/** 96 bits of the HMAC: too many to guess, and few enough for a URL. */
const sealBytes = 12;

const seal = (key: string, scope: string, text: string): Buffer =>
  createHmac('sha256', key)
    .update(JSON.stringify(['cursor', scope, text]))
    .digest()
    .subarray(0, sealBytes);

/** @param scope names the list and its account: a cursor of one list is refused by every other */
export function sealCursor(key: string, scope: string, place: Place): string {
  const text = `${place.time}/${place.shown ?? ''}/${place.id}`;
  return Buffer.concat([seal(key, scope, text), Buffer.from(text)]).toString('base64url');
}

/** @throws HttpError 400 for a cursor that is not of this list */
export function openCursor(key: string, scope: string, cursor: string): Place {
  const bytes = Buffer.from(cursor, 'base64url');
  const text = bytes.subarray(sealBytes).toString('utf8');
  const [, time, shown, id] = /^(\d+)\/(\d*)\/(.+)$/s.exec(text) ?? [];
  const given = bytes.subarray(0, sealBytes);
  if (
    time === undefined ||
    id === undefined ||
    given.length !== sealBytes ||
    !timingSafeEqual(given, seal(key, scope, text))
  ) {
    throw badRequest(
      'cursor_invalid',
      'cursor is not one that this list handed out; send it back exactly as it was answered, for the same list in the same order.',
    );
  }
  return { time: Number(time), id, shown: shown === undefined || shown === '' ? undefined : Number(shown) };
}
