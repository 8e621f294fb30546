import type * as z from 'zod/mini';
import type { Account } from '../account/account.ts';
import type { Changes } from '../audit/changes.ts';
import { settings } from '../aws/settings.ts';
import { auditedIn } from '../management/auditedIn.ts';
import { existingAccount } from '../management/replicas.ts';
import { defaultPrefix } from '../request/dialect.ts';
import { addEndpoints, removeEndpoints } from '../urlGroup/endpoints.ts';
import { deleteGroup, getGroup } from '../urlGroup/urlGroups.ts';
import { parseName } from '../value/names.ts';
import type { AuditAction } from '../wire/auditActions.ts';
import { ignoreMissing } from './ignoreMissing.ts';
import type { urlGroupInput } from './event.ts';

const requestOf = (name: string, endpoints: readonly unknown[]) => ({
  name: parseName('name', name),
  body: Buffer.from(JSON.stringify({ endpoints })),
  prefix: defaultPrefix,
  host: settings.ownHosts[0] ?? '',
});

const audited = (
  { account, name }: { readonly account: Account; readonly name: string },
  action: AuditAction,
  make: () => Promise<Changes>,
) => auditedIn(account, { action, subject: name }, make, (changes) => changes);

/**
 * Creates the URL group, or changes it to have exactly these endpoints. @throws HttpError 400, 403, 404, 412
 * or 503
 */
export async function ensureUrlGroup(input: z.infer<typeof urlGroupInput>): Promise<void> {
  const { name, endpoints } = input;
  const account = await existingAccount(input.accountId);
  const change = { account, name };
  await audited(change, 'urlGroup.addEndpoints', async () => {
    const { changes } = await addEndpoints(account, requestOf(name, endpoints));
    return changes;
  });
  const there = await getGroup(account, name, defaultPrefix);
  const others = there.endpoints.filter(
    (one) =>
      !endpoints.some(
        (wanted) => wanted.name === one.name && new URL(wanted.url).href === new URL(one.url).href,
      ),
  );
  if (others.length === 0) return;
  await audited(change, 'urlGroup.removeEndpoints', () => removeEndpoints(account, requestOf(name, others)));
}

export const removeUrlGroup = (accountId: string, name: string): Promise<void> =>
  ignoreMissing(
    existingAccount(accountId).then((account) =>
      audited({ account, name }, 'urlGroup.delete', () => deleteGroup(account, name, defaultPrefix)),
    ),
  );
