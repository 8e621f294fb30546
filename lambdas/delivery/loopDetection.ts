import type { Header } from '../shared/headers.ts';
import {
  isGatewayHost,
  isOwnHost,
  isSharedHost,
  parseOwnHosts,
  plainName,
} from '../destination/addresses.ts';
import { isRecent, minuteMs, now } from '../shared/clock.ts';
import { loopMarkHeader, loopMarkHeaders, isOwnDelivery } from '../account/credentials.ts';
import { targetOf } from '../destination/destination.ts';
import { isUrl } from '../destination/place.ts';
import type { CanonicalRequest } from '../request/dialect.ts';
import { forbidden } from '../error/httpError.ts';
import type { Message } from '../message/message.ts';
import type { ApiName } from '../aws/resources.ts';
import { settings } from '../aws/settings.ts';
import { apiHosts, noteApiHost } from '../destination/apiHosts.ts';
import { masterSecret } from '../account/secrets.ts';
import { log } from '../aws/log.ts';

/**
 * Loop detection: a message to one of the deployment's own APIs would publish another message, and so on
 * forever.
 *
 * Own hosts are refused when a message is accepted, and when it is delivered. CloudFormation generates some
 * hosts, and operators choose custom domains. So each API records, for all regions, the hosts by which it is
 * called. A host that was never called, or that of a proxy, is unknown. So a delivery that could go to an API
 * carries a mark that only this deployment can make, and each API refuses requests with this mark.
 */

const configured = parseOwnHosts(settings.ownHosts);

/**
 * A process records at most one host in this time: the write may fail, and clients can invent names below a
 * wildcard domain.
 */
const noteIntervalMs = minuteMs;
let triedAt = -Infinity;

/** API Gateway and function URLs use only this port. */
const httpsPort = 443;

/**
 * Records a new host by which an API was called, even by a delivery of this deployment. Delays the request
 * for at most a second, and never fails it.
 *
 * @param host as AWS names it: the generated host or a custom domain, because no other leads to an API
 */
export async function learnHost(api: ApiName, host: string): Promise<void> {
  const name = plainName(host);
  if (!settings.learnHosts || !isGatewayHost(name)) return;
  // The settings list hosts with a base path.
  const own = new Set([...configured, ...(await apiHosts())]);
  if (isOwnHost(name, httpsPort, own) || isSharedHost(name, own)) return;
  if (isRecent(triedAt, noteIntervalMs, now())) return;
  triedAt = now();
  try {
    await noteApiHost(api, name);
  } catch (error) {
    log.warn('A host of this API could not be noted; other APIs may not know it yet', {
      host: name,
      error: String(error),
    });
  }
}

/** Marks a delivery, so that no API of this deployment accepts it as a request. */
export const loopMark = async ({
  prefix,
  url,
}: Pick<Message, 'prefix' | 'url'>): Promise<readonly Header[]> =>
  loopMarkHeaders(await masterSecret(), prefix, isUrl(url) ? targetOf(url).path : '/');

/** @throws HttpError 403 for a delivery of this deployment */
export async function refuseOwnDelivery({ config }: CanonicalRequest, rawPath: string): Promise<void> {
  // A delivery that passes several services has several marks. Proxies may sort and join them.
  const marks = (config.get(loopMarkHeader) ?? []).flatMap((value) => value.split(','));
  if (marks.length === 0) return;
  const secret = await masterSecret();
  if (!marks.some((mark) => isOwnDelivery(secret, rawPath, mark.trim()))) return;
  throw forbidden(
    'delivery_loop',
    'The request is a delivery of this service to itself; messages to it would go in circles. The destination must be another.',
  );
}
