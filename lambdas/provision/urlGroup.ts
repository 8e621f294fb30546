import type * as z from 'zod/mini';
import { settings } from '../aws/settings.ts';
import { auditedIn } from '../management/auditedIn.ts';
import { existingAccount } from '../management/replicas.ts';
import { defaultPrefix } from '../request/dialect.ts';
import { addEndpoints, removeEndpoints } from '../urlGroup/endpoints.ts';
import { deleteGroup, getGroup } from '../urlGroup/urlGroups.ts';
import { parseName } from '../value/names.ts';
import { ignoreMissing } from './ignoreMissing.ts';
import type { urlGroupInput } from './event.ts';

const requestOf = (name: string, endpoints: readonly unknown[]) => ({
  name: parseName('name', name),
  body: Buffer.from(JSON.stringify({ endpoints })),
  prefix: defaultPrefix,
  host: settings.ownHosts[0] ?? '',
});

/** Makes the URL group, with the wanted endpoints and no others. @throws HttpError 400, 403, 404, 412 or 503 */
export async function ensureUrlGroup(input: z.infer<typeof urlGroupInput>): Promise<void> {
  const { name, endpoints } = input;
  const account = await existingAccount(input.accountId);
  await auditedIn(account, { action: 'urlGroup.addEndpoints', subject: name }, () =>
    addEndpoints(account, requestOf(name, endpoints)),
  );
  const there = await getGroup(account, name, defaultPrefix);
  const others = there.endpoints.filter(
    (one) =>
      !endpoints.some(
        (wanted) => wanted.name === one.name && new URL(wanted.url).href === new URL(one.url).href,
      ),
  );
  if (others.length === 0) return;
  await auditedIn(account, { action: 'urlGroup.removeEndpoints', subject: name }, () =>
    removeEndpoints(account, requestOf(name, others)),
  );
}

export const removeUrlGroup = (accountId: string, name: string): Promise<void> =>
  ignoreMissing(
    existingAccount(accountId).then((account) =>
      auditedIn(account, { action: 'urlGroup.delete', subject: name }, () => deleteGroup(account, name)),
    ),
  );
