/**
 * Connections through the operator's proxy.
 *
 * Names are resolved and checked here first. For TLS the proxy opens a tunnel to a checked address; only the
 * TLS handshake contains the name. For plain HTTP the proxy gets the URL and resolves the name again. It
 * cannot get an address, because it would replace `Host` with it (RFC 9112, 3.2.2).
 */
import http, { STATUS_CODES } from 'node:http';
import https from 'node:https';
import { BlockList, connect, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { addressOfHost, isLocalName, plainName } from '../../destination/addresses.ts';
import type { Target } from '../../destination/destination.ts';
import { secondMs } from '../../shared/clock.ts';
import { createAgents, createFreshAgents, shortages, type Agents, type Reach, type Ways } from './agents.ts';
import { maxHeadBytes } from './answerConnection.ts';
import type { Address, Resolver } from './nameResolver.ts';

export interface ProxySettings {
  /** The URL of the proxy for this scheme, possibly with `user:password`. */
  readonly http?: string | undefined;
  readonly https?: string | undefined;
  /**
   * Destinations that are reached without the proxy: names (with their subdomains), addresses and networks;
   * `*` is all.
   */
  readonly except: readonly string[];
}

export interface Proxy {
  readonly isTls: boolean;
  /** A name or an address; an IPv6 address without brackets. */
  readonly hostname: string;
  readonly port: number;
  /** The value of `Proxy-Authorization`. */
  readonly authorization: string | undefined;
}

/** Less than the ten seconds that a delivery may take to connect, so that the error names the proxy. */
const tunnelMs = 9 * secondMs;

/** @throws TypeError for an invalid URL */
function parseProxy(url: string): Proxy {
  const { protocol, hostname, port, username, password } = new URL(url);
  const isTls = protocol === 'https:';
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return {
    isTls,
    hostname: addressOfHost(hostname) ?? hostname,
    port: port === '' ? (isTls ? 443 : 80) : Number(port),
    authorization: credentials === ':' ? undefined : `Basic ${Buffer.from(credentials).toString('base64')}`,
  };
}

/** Makes a test for destinations that are reached without the proxy. This machine always is. */
export function exceptionsOf({ except }: ProxySettings): (target: Target) => boolean {
  const names: { readonly name: string; readonly port: string | undefined }[] = [];
  const networks = new BlockList();
  const kindOf = (address: string) => (isIP(address) === 6 ? 'ipv6' : 'ipv4');
  for (const item of ['127.0.0.0/8', '::1', ...except]) {
    const [address = '', bits] = item.split('/');
    if (isIP(address) === 0) {
      const [name = '', port] = item.split(':');
      names.push({ name: plainName(name.replace(/^\*?\.(?=.)/, '')), port });
    } else if (bits === undefined) networks.addAddress(address, kindOf(address));
    else networks.addSubnet(address, Number(bits), kindOf(address));
  }
  return ({ hostname, port }) => {
    const address = addressOfHost(hostname);
    if (address !== undefined && networks.check(address, kindOf(address))) return true;
    const host = plainName(hostname);
    return (
      isLocalName(host) ||
      names.some(
        (one) =>
          (one.port === undefined || one.port === String(port)) &&
          (one.name === '*' || host === one.name || host.endsWith(`.${one.name}`)),
      )
    );
  };
}

class ProxyError extends Error {
  readonly status: number | undefined;
  readonly code: string | undefined;

  constructor(message: string, status?: number, cause?: NodeJS.ErrnoException) {
    super(message, { cause });
    this.status = status;
    // Other codes would be taken for failures of the destination.
    this.code = shortages.has(cause?.code) ? cause?.code : undefined;
  }
}

const proxyAnswered = (status: number, asked: string): Error =>
  new ProxyError(`The proxy answered ${status} (${STATUS_CODES[status] ?? 'unknown'}) to ${asked}.`, status);

const unreachable = ({ hostname, port }: Proxy, error: NodeJS.ErrnoException): Error =>
  error instanceof ProxyError
    ? error
    : new ProxyError(`The proxy ${hostname}:${port} could not be used: ${error.message}`, undefined, error);

/** Resolves and checks a request's host. @throws the errors of its look-up */
const addressesOf = ({ host, lookup }: http.ClientRequestArgs): Promise<readonly string[]> =>
  new Promise((resolve, reject) => {
    const name = host ?? '';
    if (isIP(name) !== 0 || lookup === undefined) {
      resolve([name]);
      return;
    }
    lookup(name, { all: true }, (error, found) => {
      if (error !== null) reject(error);
      else resolve(typeof found === 'string' ? [found] : found.map(({ address }) => address));
    });
  });

/** The proxy itself may have a private address, so it is not checked. */
const lookupBy =
  (resolver: Resolver): LookupFunction =>
  (hostname, options, done) => {
    const give = ([first, ...others]: readonly Address[]): void => {
      if (first === undefined) done(new Error(`The name ${hostname} has no address.`), '');
      else if (options.all === true) done(null, [first, ...others]);
      else done(null, first.address, first.family);
    };
    resolver(hostname).then(give, (error: unknown) => {
      done(error instanceof Error ? error : new Error(String(error)), '');
    });
  };

function connectThrough(proxy: Proxy, authority: string, lookup: LookupFunction): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const { hostname: host, port, authorization } = proxy;
    const asked = (proxy.isTls ? https : http).request({
      method: 'CONNECT',
      host,
      port,
      path: authority,
      lookup,
      agent: false,
      maxHeaderSize: maxHeadBytes,
      headers: {
        host: authority,
        ...(authorization !== undefined && { 'proxy-authorization': authorization }),
      },
    });
    const timer = setTimeout(() => {
      asked.destroy(new ProxyError(`The proxy gave no connection within ${tunnelMs / secondMs} s.`));
    }, tunnelMs);
    asked.once('connect', ({ statusCode = 0 }, socket, head) => {
      clearTimeout(timer);
      if (statusCode >= 200 && statusCode < 300) {
        if (head.length > 0) socket.unshift(head);
        resolve(socket);
      } else {
        socket.destroy();
        reject(proxyAnswered(statusCode, `CONNECT ${authority}`));
      }
    });
    asked.on('error', (error) => {
      clearTimeout(timer);
      reject(unreachable(proxy, error));
    });
    asked.end();
  });
}

/** A proxy that answers with one of these could not reach the address. The next address may work. */
const unreached: readonly (number | undefined)[] = [502, 503, 504];

function tunnelThrough(proxy: Proxy, resolver: Resolver): Reach {
  const lookup = lookupBy(resolver);
  return async (options) => {
    const [first, ...others] = (await addressesOf(options)).map(
      (address) => `${isIP(address) === 6 ? `[${address}]` : address}:${options.port}`,
    );
    if (first === undefined) throw new Error(`The name ${options.host} has no address.`);
    let tunnel = connectThrough(proxy, first, lookup);
    for (const other of others) {
      tunnel = tunnel.catch((error: unknown) => {
        if (error instanceof ProxyError && unreached.includes(error.status))
          return connectThrough(proxy, other, lookup);
        throw error;
      });
    }
    return tunnel;
  };
}

/** Makes connections to the proxy after a check of the URL's host. */
function relayThrough(proxy: Proxy, resolver: Resolver): Reach {
  const lookup = lookupBy(resolver);
  return async (options) => {
    await addressesOf(options);
    const { hostname: host, port } = proxy;
    const servername = isIP(host) === 0 ? host : '';
    const socket = proxy.isTls
      ? connectTls({ host, port, lookup, servername })
      : connect({ host, port, lookup });
    const explain = (error: Error): void => {
      error.message = unreachable(proxy, error).message;
    };
    socket.once('error', explain);
    socket.once(proxy.isTls ? 'secureConnect' : 'connect', () => socket.off('error', explain));
    return socket;
  };
}

export interface Outbound {
  /** Finds the proxy for a destination; undefined if it is reached without one. */
  readonly proxyOf: (target: Target) => Proxy | undefined;
  /**
   * Agents that keep tunnels. Connections for plain HTTP are not kept, because each request's name is
   * checked.
   */
  readonly keeping: Agents;
  readonly fresh: Agents;
  readonly answered: typeof proxyAnswered;
}

/** @param most idle tunnels to keep */
export function openOutbound(settings: ProxySettings, resolver: Resolver, most?: number): Outbound {
  const { http: relay, https: tunnel } = settings;
  const proxies = {
    'http:': relay === undefined ? undefined : parseProxy(relay),
    'https:': tunnel === undefined ? undefined : parseProxy(tunnel),
  };
  const isExcepted = exceptionsOf(settings);
  const ways: Ways = {
    'http:': proxies['http:'] && relayThrough(proxies['http:'], resolver),
    'https:': proxies['https:'] && tunnelThrough(proxies['https:'], resolver),
  };
  const fresh = createFreshAgents(ways);
  const keeping = { ...createAgents({ ...(most !== undefined && { most }), ways }), 'http:': fresh['http:'] };
  return {
    proxyOf: (target) => (isExcepted(target) ? undefined : proxies[target.protocol]),
    keeping,
    fresh,
    answered: proxyAnswered,
  };
}
