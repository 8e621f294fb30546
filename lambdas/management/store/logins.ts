import * as z from 'zod/mini';
import { minuteMs, epochSeconds } from '../../shared/clock.ts';
import { settings } from '../../aws/settings.ts';
import { getRow } from '../../aws/dynamodb.ts';
import { update } from '../../aws/writes.ts';

export const loginPeriodMs = 15 * minuteMs;

const loginKey = (client: string, now: number) => ({
  owner: `login#${client}`,
  id: String(Math.floor(now / loginPeriodMs)),
});

const loginRow = z.object({ failures: z.number() });

export async function failedLogins(client: string, now: number): Promise<number> {
  const row = await getRow(settings.usageTable, loginKey(client, now), true);
  return row === undefined ? 0 : loginRow.parse(row).failures;
}

/** @returns the failures within the current quarter of an hour */
export async function addFailedLogin(client: string, now: number): Promise<number> {
  const { row } = await update(
    settings.usageTable,
    loginKey(client, now),
    'ADD failures :one SET expiresAt = :expiresAt',
    { values: { one: 1, expiresAt: epochSeconds(now + 2 * loginPeriodMs) }, returns: 'ALL_NEW' },
  );
  return loginRow.parse(row).failures;
}
