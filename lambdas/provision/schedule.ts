import type * as z from 'zod/mini';
import { settings } from '../aws/settings.ts';
import { auditedIn } from '../management/auditedIn.ts';
import { existingAccount } from '../management/replicas.ts';
import { canonicalize } from '../request/dialect.ts';
import { createSchedule, deleteSchedule } from '../schedule/schedules.ts';
import { readHeaders } from '../shared/headers.ts';
import { ignoreMissing } from './ignoreMissing.ts';
import type { scheduleInput } from './event.ts';

export async function ensureSchedule(input: z.infer<typeof scheduleInput>): Promise<void> {
  const account = await existingAccount(input.accountId);
  const headers = readHeaders('headers', [...input.headers, ['svc-schedule-id', input.id]]);
  const request = {
    ...canonicalize(headers, [], settings.headerPrefixes),
    destination: input.destination,
    body: Buffer.from(input.body),
    callerIp: '',
    host: settings.ownHosts[0] ?? '',
  };
  await auditedIn(
    account,
    { action: 'schedule.save', subject: input.id },
    () => createSchedule(account, request),
    ({ changes }) => changes,
  );
}

export const removeSchedule = (accountId: string, id: string): Promise<void> =>
  ignoreMissing(
    existingAccount(accountId).then((account) =>
      auditedIn(
        account,
        { action: 'schedule.delete', subject: id },
        () => deleteSchedule(account, id),
        (changes) => changes,
      ),
    ),
  );
