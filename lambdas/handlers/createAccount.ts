import { createAccount, type AccountRecord } from '../services/accounts.ts';

/** Invoked by the operator, as the deployment guide shows. */
export const handler = (event: unknown): Promise<AccountRecord> => createAccount(event);
