import { logAndContinue } from '../aws/logAndContinue.ts';
import type { GroupHooks } from '../message/kinds.ts';
import { isRecent, minuteMs, now } from '../shared/clock.ts';
import { cached } from '../shared/cached.ts';
import { removeEndpoint } from './gone.ts';
import { loadUrlGroup } from './rows.ts';

export { removeEndpoint };

/** A signature is reused for this long. */
const lifetimeMs = minuteMs;

/** Groups with endpoint signatures, by account and name. */
const signed = cached(lifetimeMs, (key) => {
  const [accountId = '', name = ''] = key.split('/');
  return loadUrlGroup(accountId, name);
});

/**
 * A message has its endpoint's signature from its publish, which is used for the first minute. Later attempts read the group,
 * because it may have been rotated. If that fails, the signature stays the same.
 */
export const latestSignature: GroupHooks['latestSignature'] = async (message, known) => {
  if (isRecent(known.readAt, lifetimeMs, now())) return known;
  const { accountId, topicName = '' } = message;
  const group = await logAndContinue(signed(`${accountId}/${topicName}`));
  return group?.endpoints.find(({ signature }) => signature?.id === known.id)?.signature ?? known;
};
