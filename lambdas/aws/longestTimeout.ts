/**
 * The longest timeout of a message that this deployment waits for, in seconds. It stands apart from the other settings, because the
 * limits of an account follow from it, which code without any settings computes.
 */
import * as z from 'zod/mini';
import { longestTimeoutSeconds } from './resources.ts';

/** How `LONGEST_TIMEOUT` is read. */
export const longestTimeoutVariable = z._default(
  z.coerce.number().check(z.int(), z.gte(longestTimeoutSeconds.functions)),
  longestTimeoutSeconds.functions,
);

export const longestTimeout = longestTimeoutVariable.parse(process.env['LONGEST_TIMEOUT']);
