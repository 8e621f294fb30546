import type { Header } from '../shared/headers.ts';
import {
  isGatewayHost,
  isOwnHost,
  isSharedHost,
  parseOwnHosts,
  plainName,
} from '../destination/addresses.ts';
import { minuteMs, now } from '../shared/clock.ts';
import { loopMarkHeader, loopMarkHeaders, isOwnDelivery } from '../account/credentials.ts';
import { targetOf } from '../destination/destination.ts';
import { isArn } from '../destination/arns.ts';
import type { CanonicalRequest } from '../request/dialect.ts';
import { forbidden } from '../error/httpError.ts';
import type { Message } from '../message/message.ts';
import type { ApiName } from '../aws/resources.ts';
import { settings } from '../aws/settings.ts';
import { apiHosts, noteApiHost } from '../destination/apiHosts.ts';
import { masterSecret } from '../account/secrets.ts';
import { log } from '../aws/log.ts';

/**
 * Loop detection: a message to one of the deployment's own APIs would publish another message, and so on for ever.
 *
 * Own hosts are refused when a message is accepted, and again when it is delivered. CloudFormation makes up the hosts of other
 * regions and of the management API, and operators choose custom domains. So each API notes the hosts by which it is called,
 * where all regions read them. Two kinds of hosts stay unknown: those that nobody has called yet, and those of proxies. Therefore
 * a delivery that could be to an API carries a mark that only this deployment can make, and each API refuses it.
 */

const configured = parseOwnHosts(settings.ownHosts);

/** A process notes one host a minute at most: each note may fail, and below a wildcard domain clients make up names. */
const noteIntervalMs = minuteMs;
let triedAt = -Infinity;

/** API Gateway and function URLs listen at this port only. */
const httpsPort = 443;

/**
 * Notes a host by which an API was called, unless it is known. The request is held up for a second at most, and never fails by
 * this. A delivery of this deployment is a call like any other.
 *
 * @param host as AWS names it: the generated host or a custom domain, because no other leads to an API
 */
export async function learnHost(api: ApiName, host: string): Promise<void> {
  const name = plainName(host);
  if (!settings.learnHosts || !isGatewayHost(name)) return;
  // A host with a base path is in the settings.
  const own = new Set([...configured, ...(await apiHosts())]);
  if (isOwnHost(name, httpsPort, own) || isSharedHost(name, own)) return;
  if (now() - triedAt < noteIntervalMs) return;
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

/** The header that marks a delivery, so that no API of this deployment takes it for a request. */
export const loopMark = async ({
  prefix,
  url,
}: Pick<Message, 'prefix' | 'url'>): Promise<readonly Header[]> =>
  loopMarkHeaders(await masterSecret(), prefix, isArn(url) ? '/' : targetOf(url).path);

/** @throws HttpError 403 for a request that is a delivery of this deployment */
export async function refuseOwnDelivery({ config }: CanonicalRequest, rawPath: string): Promise<void> {
  // A delivery that passes several times has several marks, which proxies sort and join.
  const marks = (config.get(loopMarkHeader) ?? []).flatMap((value) => value.split(','));
  if (marks.length === 0) return;
  const secret = await masterSecret();
  if (!marks.some((mark) => isOwnDelivery(secret, rawPath, mark.trim()))) return;
  throw forbidden(
    'delivery_loop',
    'The request is a delivery of this service to itself; messages to it would go in circles. The destination must be another.',
  );
}
