import * as z from 'zod/mini';
import { api, ok, query } from './api.ts';
import { eventually } from './eventually.ts';

type Filters = Parameters<typeof query>[0];

const listed = z.looseObject({ messageId: z.string(), state: z.string(), retried: z.number() });
export type ListedMessage = z.infer<typeof listed>;
const page = z.object({ messages: z.array(listed), cursor: z.optional(z.string()) });

export const listMessages = async (filters: Filters = {}): Promise<z.infer<typeof page>> =>
  page.parse(await ok(api('GET', `/v2/messages${query(filters)}`)));

/** Waits until the list has this many matching messages. */
export const listedMessages = async (filters: Filters, count: number): Promise<readonly ListedMessage[]> =>
  (
    await eventually(
      () => listMessages(filters),
      ({ messages }) => messages.length >= count,
    )
  ).messages;

const inAnyState = z.looseObject({ messageId: z.string(), state: z.string(), url: z.string() });

export const getInAnyState = async (messageId: string, token?: string): Promise<z.infer<typeof inAnyState>> =>
  inAnyState.parse(await ok(api('GET', `/v2/messages/${messageId}?state=ALL`, token ? { token } : {})));

/** @param token of its account; by default that of the tests */
export const untilState = (
  messageId: string,
  state: string,
  token?: string,
): Promise<z.infer<typeof inAnyState>> =>
  eventually(
    () => getInAnyState(messageId, token),
    (message) => message.state === state,
  );
