import * as z from 'zod/mini';

export interface AccountChange {
  readonly accountId: string;
  readonly others?: readonly string[] | undefined;
  /** The receiving region must wait until the account's row has this version. */
  readonly version?: number | undefined;
}

const changeShape = z.object({
  accountId: z.string(),
  others: z.optional(z.array(z.string())),
  version: z.optional(z.number()),
});

/** @throws Error for a malformed notice */
export const parseAccountChange = (text: string): AccountChange => changeShape.parse(JSON.parse(text));

export const formatAccountChange = (change: AccountChange): string => JSON.stringify(change);
