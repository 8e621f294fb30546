import type { Account } from '../account/account.ts';
import { masterSecret } from '../account/secrets.ts';
import type { Changes } from '../audit/changes.ts';
import { badField, quote } from '../error/httpError.ts';
import type { EndpointSignature } from '../account/endpointSecrets.ts';
import { now } from '../shared/clock.ts';
import { parseShape } from '../shared/json.ts';
import { quoteUrl } from '../shared/urlCredentials.ts';
import { parseOverlapMs } from '../value/duration.ts';
import type { EndpointSecrets } from '../wire/urlGroupAnswers.ts';
import { endedOverlaps, rotatedSignatures } from '../wire/requests.ts';
import { noSuchEndpoint, refuseUnnamed } from './endpoints.ts';
import { newSecrets, rotated } from './signatures.ts';
import { isNamedBy, type ChangedGroup, type EndpointKey } from './urlGroup.ts';
import { changeGroup, groupChanges, noSuchGroup, type GroupRequest } from './urlGroups.ts';

const allowedKeys = '{"endpoints": [{"url"?, "name"?}]}';

/** Changes named endpoints' signatures. @throws HttpError 400 or 404 */
function changeSignatures(
  account: Account,
  name: string,
  keys: readonly EndpointKey[],
  change: (signature: EndpointSignature) => EndpointSignature,
): Promise<ChangedGroup> {
  refuseUnnamed(keys, allowedKeys);
  return changeGroup(account, name, (group) => {
    if (group === undefined) throw noSuchGroup(name);
    for (const [index, key] of keys.entries()) {
      const endpoint = group.endpoints.find((one) => isNamedBy(one, key));
      if (endpoint === undefined) throw noSuchEndpoint(name, key);
      if (endpoint.signature === undefined) {
        throw badField(
          `endpoints.${index} names ${endpoint.name === undefined ? quoteUrl(endpoint.url) : quote(endpoint.name)}, which has no signature; add the endpoint with "signature" first.`,
        );
      }
    }
    const endpoints = group.endpoints.map((endpoint) =>
      endpoint.signature !== undefined && keys.some((key) => isNamedBy(endpoint, key))
        ? { ...endpoint, signature: change(endpoint.signature) }
        : endpoint,
    );
    return { ...group, endpoints, updatedAt: now() };
  });
}

/**
 * Rotates endpoints' secrets. The old ones stay valid for a while.
 *
 * @throws HttpError 400, 404 or 503
 */
export async function rotateSignatures(
  account: Account,
  request: GroupRequest,
): Promise<{ readonly body: EndpointSecrets; readonly changes: Changes }> {
  const allowed = '{"endpoints": [{"url"?, "name"?}], "overlap"?: "24h"} with at least one endpoint';
  const { endpoints, overlap } = parseShape('The body', request.body, rotatedSignatures, allowed);
  const overlapMs = parseOverlapMs(overlap);
  const secret = await masterSecret();
  const changed = await changeSignatures(account, request.name, endpoints, (signature) =>
    rotated(signature, secret, now(), overlapMs),
  );
  return {
    body: { endpoints: await newSecrets(changed) },
    changes: groupChanges(changed, request.prefix),
  };
}

/**
 * Ends the overlap: only the newest secrets stay valid. Can be repeated.
 *
 * @throws HttpError 400, 404 or 503
 */
export async function endOverlaps(account: Account, request: GroupRequest): Promise<Changes> {
  const { endpoints } = parseShape(
    'The body',
    request.body,
    endedOverlaps,
    `${allowedKeys} with at least one endpoint`,
  );
  const changed = await changeSignatures(account, request.name, endpoints, (signature) => ({
    ...signature,
    replaced: undefined,
  }));
  return groupChanges(changed, request.prefix);
}
