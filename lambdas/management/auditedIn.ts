import type { Changes } from '../audit/changes.ts';
import { beginChange, finishChange, operator, withdrawRefused } from '../audit/audited.ts';
import type { AuditAction } from '../wire/auditActions.ts';
import { answerOf } from './replicas.ts';

export interface OperatorsChange {
  readonly action: AuditAction;
  readonly subject?: string | undefined;
  /** The operator's address; undefined for changes by a deployment. */
  readonly address?: string | undefined;
  readonly changes?: Changes | undefined;
}

/** @throws HttpError 503 if the region does not answer */
export const beginIn = (account: Account, change: OperatorsChange): ReturnType<typeof beginChange> =>
  answerOf(account.region, beginChange(account, { actor: operator, ...change }));

/** @param changesOf describes the change if it is known only afterwards */
export async function auditedIn<T>(
  account: Account,
  change: OperatorsChange,
  make: () => Promise<T>,
  changesOf?: (made: T) => Changes,
): Promise<T> {
  const place = await beginIn(account, change);
  try {
    const made = await make();
    await finishChange(place, { changes: changesOf?.(made) });
    return made;
  } catch (error) {
    await withdrawRefused(place, error);
    throw error;
  }
}

interface Account {
  readonly id: string;
  readonly region: string;
}
