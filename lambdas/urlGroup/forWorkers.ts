import { logAndContinue } from '../aws/logAndContinue.ts';
import type { GroupHooks, RemoveEndpoint } from '../message/kinds.ts';
import { isRecent, minuteMs, now } from '../shared/clock.ts';
import { cached } from '../shared/cached.ts';
import { loadUrlGroup } from './rows.ts';
import { ownerOf } from '../account/owner.ts';
import { beginChange, theService } from '../audit/audited.ts';
import { log } from '../aws/log.ts';
import { isSameUrl, type Endpoint, type UrlGroup } from './urlGroup.ts';
import { changeGroup } from './urlGroups.ts';

/**
 * Removes an endpoint that answered 410, after writing an entry of the audit trail. A group without endpoints
 * is deleted. If many messages get a 410, the first one removes the endpoint, and the others only read the
 * group.
 */
export const removeEndpoint: RemoveEndpoint = async (message, attempt) => {
  const { topicName = '' } = message;
  const account = await ownerOf(message);
  if (account === undefined) return;
  const isGone = ({ url, name, addedAt = 0 }: Endpoint): boolean =>
    name === message.endpointName && isSameUrl(url, message.url) && addedAt <= attempt.startedAt;
  const read = await loadUrlGroup(account.id, topicName);
  if (read?.endpoints.some(isGone) !== true) return;
  await beginChange(account, { actor: theService, action: 'urlGroup.removeEndpoints', subject: topicName });
  await changeGroup(account, topicName, (group) => (group === undefined ? null : without(group, isGone)));
  log.warn('An endpoint that answered 410 was removed from its URL group', {
    messageId: message.messageId,
    topicName,
    url: message.url,
  });
};

function without(group: UrlGroup, isGone: (endpoint: Endpoint) => boolean): UrlGroup | null {
  const endpoints = group.endpoints.filter((endpoint) => !isGone(endpoint));
  return endpoints.length === 0 ? null : { ...group, endpoints, updatedAt: now() };
}

const lifetimeMs = minuteMs;

/** The groups whose endpoints have signatures, by account and name. */
const signed = cached(lifetimeMs, (key) => {
  const [accountId = '', name = ''] = key.split('/');
  return loadUrlGroup(accountId, name);
});

/**
 * For the first minute, a message uses the signature that it got from its publish. Later attempts read the
 * group, because the signature may have been rotated. If that fails, the signature stays the same.
 */
export const latestSignature: GroupHooks['latestSignature'] = async (message, known) => {
  if (isRecent(known.readAt, lifetimeMs, now())) return known;
  const { accountId, topicName = '' } = message;
  const group = await logAndContinue(signed(`${accountId}/${topicName}`));
  return group?.endpoints.find(({ signature }) => signature?.id === known.id)?.signature ?? known;
};
