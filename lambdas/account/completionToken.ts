/** The token of a completion URL. It is valid for one attempt. */
import * as z from 'zod/mini';
import { isPassword, macOf, secretsOf } from './credentials.ts';
import { masterSecret } from './secrets.ts';

const purpose = 'completion';

interface CompletionTarget {
  readonly accountId: string;
  readonly messageId: string;
  /** 0 for the first delivery. */
  readonly attempt: number;
  /** When its request was made. */
  readonly startedAt: number;
}

export async function completionToken(target: CompletionTarget): Promise<string> {
  const { accountId, messageId, attempt, startedAt } = target;
  const text = Buffer.from(JSON.stringify([accountId, messageId, attempt, startedAt])).toString('base64url');
  return `${text}.${macOf((await masterSecret()).current, purpose, accountId, text)}`;
}

/** @returns undefined if this deployment did not make the token */
export async function readCompletionToken(token: string): Promise<CompletionTarget | undefined> {
  const [text = '', mac = '', ...more] = token.split('.');
  if (more.length > 0) return undefined;
  const shape = z.tuple([z.string(), z.string(), z.int().check(z.nonnegative()), z.int()]);
  const read = shape.safeParse(jsonIn(text));
  if (!read.success) return undefined;
  const [accountId, messageId, attempt, startedAt] = read.data;
  const isOurs = secretsOf(await masterSecret()).some((one) =>
    isPassword(macOf(one, purpose, accountId, text), mac),
  );
  return isOurs ? { accountId, messageId, attempt, startedAt } : undefined;
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}
