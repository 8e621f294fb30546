/** The network of the stage: its address, its certificate, and the proxies in front of it. */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';

export interface Network {
  readonly host: string;
  /** The address that clients use, if it is another one. */
  readonly publicUrl?: string | undefined;
  /** Proxies whose `X-Forwarded-*` headers are trusted: addresses and networks. */
  readonly trustedProxies: readonly string[];
  readonly tls?: TlsFiles | undefined;
}

/** Paths of a certificate chain and its key, both PEM. */
export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

export const loopback = '127.0.0.1';

/** For clients on this machine only. */
export const onLoopback: Network = { host: loopback, trustedProxies: [] };

const isLoopback = (host: string): boolean => /^127(\.\d+){3}$/.test(host) || host === '::1';

/** Whether other machines can reach the stage. Then it protects them and its own network. */
export const isOpen = ({ host, publicUrl }: Network): boolean => !isLoopback(host) || publicUrl !== undefined;

/** The address by which the stage calls itself. Not every system can call `0.0.0.0`. */
const ownAddress = (host: string): string => (host === '0.0.0.0' ? loopback : host === '::' ? '::1' : host);

/** The path of the public URL, such as `/queue`, or empty. */
export const basePathOf = ({ publicUrl }: Pick<Network, 'publicUrl'>): string =>
  publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/$/, '');

export function urlOf({ host, tls }: Network, port: number): string {
  const address = ownAddress(host);
  return `${tls === undefined ? 'http' : 'https'}://${isIP(address) === 6 ? `[${address}]` : address}:${port}`;
}

/**
 * The hosts of the stage's own API, which are refused as destinations.
 *
 * @param ports that clients use
 */
export function ownHosts(network: Network, ports: readonly number[]): string[] {
  const { host, publicUrl } = network;
  const addresses = Object.values(networkInterfaces()).flatMap((all = []) =>
    all.map(({ address }) => address),
  );
  // `localhost` includes all names of this machine: 127.0.0.1, [::1], app.localhost.
  const names = isLoopback(host) ? ['localhost'] : ['localhost', hostname(), host, ...addresses];
  const inUrl = (name: string): string => (isIP(name) === 6 ? `[${name}]` : name);
  return [
    ...ports.flatMap((port) => names.map((name) => `${inUrl(name)}:${port}`)),
    ...(publicUrl === undefined ? [] : [new URL(publicUrl).host + basePathOf(network)]),
  ];
}

/** @throws Error if a text is neither an address nor a network */
export function parseNetworks(items: readonly string[]): BlockList {
  const list = new BlockList();
  for (const item of items) {
    const [address = '', bits, ...others] = item.split('/');
    if (others.length > 0) throw new Error(`${item} is no network.`);
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, bits === '' ? Number.NaN : Number(bits), family);
  }
  return list;
}

/** The origin of a request, before any proxy. */
export interface Origin {
  readonly ip: string;
  readonly proto: 'http' | 'https';
  /** The host to which the request was sent, with its port unless that is the default. */
  readonly host: string;
  readonly port: number;
}

export type OriginOf = (request: IncomingMessage) => Origin;

/**
 * Makes a function that finds the origin of a request. Headers of proxies count only if a trusted proxy sent
 * the request.
 */
export function originsBehind({ publicUrl, trustedProxies }: Network): OriginOf {
  // Skipped if the list is empty, because checking an address takes time.
  const isTrusted = trustedProxies.length === 0 ? () => false : isWithin(trustedProxies);
  const known = publicUrl === undefined ? undefined : new URL(publicUrl);

  return (request) => {
    const { headers, socket } = request;
    const peer = plain(socket.remoteAddress ?? '');
    const forwarded = (name: string): string | undefined =>
      isTrusted(peer) ? [headers[name] ?? []].flat().at(-1)?.split(',').at(-1)?.trim() : undefined;
    const said = forwarded('x-forwarded-proto');
    const proto = known?.protocol.slice(0, -1) ?? said ?? ('encrypted' in socket ? 'https' : 'http');
    return {
      ip: isTrusted(peer) ? clientBehind(headers['x-forwarded-for'], peer, isTrusted) : peer,
      proto: proto === 'https' ? 'https' : 'http',
      host: known?.host ?? forwarded('x-forwarded-host') ?? headers.host ?? '',
      port: known === undefined ? (socket.localPort ?? 0) : portOf(known),
    };
  };
}

/**
 * Makes a function that says whether an address may be that of many clients: this machine's or a trusted
 * proxy's.
 */
export function isManyClients({ trustedProxies }: Network): (address: string) => boolean {
  const isShared = isWithin(['127.0.0.0/8', '::1', ...trustedProxies]);
  return (address) => isShared(plain(address));
}

function isWithin(networks: readonly string[]): (ip: string) => boolean {
  const list = parseNetworks(networks);
  return (ip) => isIP(ip) > 0 && list.check(ip, isIP(ip) === 6 ? 'ipv6' : 'ipv4');
}

/**
 * Finds the client: the last address in `X-Forwarded-For` that is not of a trusted proxy. Earlier addresses
 * may be invented.
 */
function clientBehind(
  header: string | readonly string[] | undefined,
  peer: string,
  isTrusted: (ip: string) => boolean,
): string {
  const named = [header ?? []]
    .flat()
    .flatMap((text) => text.split(',').map((item) => addressIn(item.trim())));
  let client = peer;
  for (const ip of named.toReversed()) {
    if (ip === '') break;
    // A trusted proxy may write a name instead of an address. The name then identifies the client.
    client = ip.slice(0, longestName);
    if (!isTrusted(ip)) break;
  }
  return client;
}

/** The longest name of a client. An IPv6 address has up to 45 characters. */
const longestName = 64;

/** Parses an item of `X-Forwarded-For`. Some proxies append a port. */
function addressIn(item: string): string {
  const [, bracketed, v4] = /^(?:\[([^\]]*)\](?::\d+)?|(\d+(?:\.\d+){3}):\d+)$/.exec(item) ?? [];
  return plain(bracketed ?? v4 ?? item);
}

const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/, '');

const portOf = ({ port, protocol }: URL): number =>
  port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
