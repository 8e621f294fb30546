/** What the workers that deliver ask of URL groups. */
import { logAndContinue } from '../aws/logAndContinue.ts';
import type { GroupHooks } from '../message/kinds.ts';
import { minuteMs, now } from '../shared/clock.ts';
import { cached } from '../shared/cached.ts';
import { removeEndpoint } from './gone.ts';
import { loadUrlGroup } from './rows.ts';

export { removeEndpoint };

/** A signature is used for so long as it was read. */
const lifetimeMs = minuteMs;

/** Groups whose endpoints have signatures of their own, by account and name. */
const signed = cached(lifetimeMs, (key) => {
  const [accountId = '', name = ''] = key.split('/');
  return loadUrlGroup(accountId, name);
});

/**
 * A message has its endpoint's signature as it was at its publish, and needs no read in the first minute. A later attempt looks at the
 * group, which may have rotated it. A group that cannot be read, or is gone, changed nothing.
 */
export const latestSignature: GroupHooks['latestSignature'] = async (message, known) => {
  if (now() < known.readAt + lifetimeMs) return known;
  const { accountId, topicName = '' } = message;
  const group = await logAndContinue(signed(`${accountId}/${topicName}`));
  return group?.endpoints.find(({ signature }) => signature?.id === known.id)?.signature ?? known;
};
