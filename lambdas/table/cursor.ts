import { createHmac, timingSafeEqual } from 'node:crypto';
import { badRequest } from '../error/httpError.ts';

/** The orders of a list: by time, then by id. */
export const orders = ['latestFirst', 'earliestFirst'] as const;
export type Order = (typeof orders)[number];

/**
 * A place in a list: after the row with this time and id. Clients get it as a sealed cursor, which they
 * cannot forge.
 */
export interface Place {
  readonly time: number;
  readonly id: string;
  /** How many entries of that row were shown; undefined for all. */
  readonly shown?: number | undefined;
}

/** 96 bits of the HMAC: impossible to guess, and short enough for a URL. */
const sealBytes = 12;

const seal = (key: string, scope: string, text: string): Buffer =>
  createHmac('sha256', key)
    .update(JSON.stringify(['cursor', scope, text]))
    .digest()
    .subarray(0, sealBytes);

/** @param scope the list and its account. The cursor is refused for other lists */
export function sealCursor(key: string, scope: string, place: Place): string {
  const text = `${place.time}/${place.shown ?? ''}/${place.id}`;
  return Buffer.concat([seal(key, scope, text), Buffer.from(text)]).toString('base64url');
}

/** @throws HttpError 400 for a cursor of another list */
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
