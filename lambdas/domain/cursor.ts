import { createHmac, timingSafeEqual } from 'node:crypto';
import { badRequest } from './httpError.ts';

/**
 * A place in a list, newest first: behind the row with this time and id. It is handed out sealed, so that a client can
 * keep it but not make one up.
 */
export interface Place {
  /** Unix milliseconds. */
  readonly time: number;
  readonly id: string;
  /** Entries of that row that were shown already; all of it when absent. */
  readonly shown?: number | undefined;
}

const sealBytes = 12;

const seal = (key: string, scope: string, text: string): Buffer =>
  createHmac('sha256', key)
    .update(JSON.stringify(['cursor', scope, text]))
    .digest()
    .subarray(0, sealBytes);

/** @param scope what the list is of, and whose: a cursor of one list means nothing in another */
export function sealCursor(key: string, scope: string, place: Place): string {
  const text = `${place.time}/${place.shown ?? ''}/${place.id}`;
  return Buffer.concat([seal(key, scope, text), Buffer.from(text)]).toString('base64url');
}

/** @throws HttpError 400 for what was not handed out for this list */
export function openCursor(key: string, scope: string, cursor: string): Place {
  const bytes = Buffer.from(cursor, 'base64url');
  const text = bytes.subarray(sealBytes).toString('utf8');
  const [, time, shown, id] = /^(\d+)\/(\d*)\/(.+)$/.exec(text) ?? [];
  const given = bytes.subarray(0, sealBytes);
  if (
    time === undefined ||
    id === undefined ||
    given.length !== sealBytes ||
    !timingSafeEqual(given, seal(key, scope, text))
  ) {
    throw badRequest('cursor is not one that this list handed out; send it back exactly as it was answered.');
  }
  return { time: Number(time), id, shown: shown === undefined || shown === '' ? undefined : Number(shown) };
}
