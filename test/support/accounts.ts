import * as z from 'zod/mini';
import { call, publish, type Answer } from './publish.ts';
import { basic, service } from './service.ts';
import type { Management } from './stage.ts';

export { basic };

interface ManageInit {
  /** Sent as JSON, unless it is a text. */
  readonly body?: unknown;
  /** Null sends none. */
  readonly authorization?: string | null;
  readonly management?: Management;
}

export function manage(method: string, path: string, init: ManageInit = {}): Promise<Answer> {
  const { body, management = service.management } = init;
  const authorization =
    init.authorization === undefined ? basic(management.user, management.password) : init.authorization;
  return call(
    path,
    {
      method,
      headers: authorization === null ? {} : { authorization },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    },
    management.url,
  );
}

const record = z.looseObject({
  id: z.string(),
  token: z.string(),
  read_only_token: z.string(),
  region: z.string(),
  state: z.string(),
});
export type AccountRecord = z.infer<typeof record>;

export function recordOf(answer: Answer): AccountRecord {
  if (answer.status !== 200) throw new Error(`Status ${answer.status}: ${JSON.stringify(answer.json)}`);
  return record.parse(answer.json);
}

/** Creates an account, by default in the region under test. */
export const makeAccount = async (
  fields: Readonly<Record<string, unknown>> = {},
  management?: Management,
): Promise<AccountRecord> =>
  recordOf(
    await manage('POST', '/v2/svc/users', {
      body: { customer_id: 'test@example.com', type: 'paid', region: service.region, ...fields },
      ...(management && { management }),
    }),
  );

const tokenParts = z.object({ UserID: z.string() });

export const accountIdOf = (token: string): string =>
  tokenParts.parse(JSON.parse(Buffer.from(token, 'base64').toString())).UserID;

export const changeAccount = async (
  id: string,
  fields: Readonly<Record<string, unknown>>,
  management?: Management,
): Promise<AccountRecord> =>
  recordOf(await manage('PATCH', `/v2/svc/users/${id}`, { body: fields, ...(management && { management }) }));

export const publishAs = (
  { token }: Pick<AccountRecord, 'token'>,
  destination: string,
  init: Parameters<typeof publish>[1] = {},
): Promise<Answer> => publish(destination, { ...init, token });
