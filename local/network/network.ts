/** The network of the stage: the address that it listens on, its certificate, and the proxies before it. */
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';

export interface Network {
  /** The address that it listens on. */
  readonly host: string;
  /** The address by which clients reach it, where that is another one. */
  readonly publicUrl?: string | undefined;
  /** The addresses and networks of proxies whose `X-Forwarded-*` headers are believed. */
  readonly trustedProxies: readonly string[];
  readonly tls?: TlsFiles | undefined;
}

/** The paths of a certificate, with those that it is signed by, and of its key, both PEM. */
export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

export const loopback = '127.0.0.1';

/** For clients of this machine only. */
export const onLoopback: Network = { host: loopback, trustedProxies: [] };

const isLoopback = (host: string): boolean => /^127(\.\d+){3}$/.test(host) || host === '::1';

/** Whether clients of other machines can reach a stage. It then protects them, and what is beside it in its network. */
export const isOpen = ({ host, publicUrl }: Network): boolean => !isLoopback(host) || publicUrl !== undefined;

/** The address by which the stage calls itself. An address for all interfaces of a machine cannot be called on every system. */
const ownAddress = (host: string): string => (host === '0.0.0.0' ? loopback : host === '::' ? '::1' : host);

/** The path of the public URL, such as `/queue`; empty where it has none. */
export const basePathOf = ({ publicUrl }: Pick<Network, 'publicUrl'>): string =>
  publicUrl === undefined ? '' : new URL(publicUrl).pathname.replace(/\/$/, '');

/** The URL of a port on this machine. */
export function urlOf({ host, tls }: Network, port: number): string {
  const address = ownAddress(host);
  return `${tls === undefined ? 'http' : 'https'}://${isIP(address) === 6 ? `[${address}]` : address}:${port}`;
}

/**
 * The hosts of the stage's own servers, which are no destinations.
 *
 * @param ports those that clients use
 * @param inside URLs of servers that only the stage itself uses
 */
export function ownHosts(network: Network, ports: readonly number[], inside: readonly string[]): string[] {
  const { host, publicUrl } = network;
  const addresses = Object.values(networkInterfaces()).flatMap((all = []) =>
    all.map(({ address }) => address),
  );
  // `localhost` covers all names of this machine: 127.0.0.1, [::1], app.localhost.
  const names = isLoopback(host) ? ['localhost'] : ['localhost', hostname(), host, ...addresses];
  const inUrl = (name: string): string => (isIP(name) === 6 ? `[${name}]` : name);
  return [
    ...ports.flatMap((port) => names.map((name) => `${inUrl(name)}:${port}`)),
    ...(publicUrl === undefined ? [] : [new URL(publicUrl).host + basePathOf(network)]),
    ...inside.map((url) => new URL(url).host),
  ];
}

/** @throws Error for a text that is no address and no network */
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

/** A request as its client sent it, before any proxy. */
export interface Origin {
  /** The client's address. */
  readonly ip: string;
  readonly proto: 'http' | 'https';
  /** The host that the request was sent to, with its port unless that is the usual one. */
  readonly host: string;
  readonly port: number;
}

export type OriginOf = (request: IncomingMessage) => Origin;

/** Makes a reader of origins. A header that a proxy sets counts only where a trusted proxy has sent the request. */
export function originsBehind({ publicUrl, trustedProxies }: Network): OriginOf {
  const trusted = parseNetworks(trustedProxies);
  // Even an empty list takes its time to look at an address.
  const isTrusted = (ip: string): boolean =>
    trustedProxies.length > 0 && isIP(ip) > 0 && trusted.check(ip, isIP(ip) === 6 ? 'ipv6' : 'ipv4');
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

/** Makes the function that tells whether an address may have many clients behind it: this machine's, or that of a trusted proxy. */
export function isManyClients({ trustedProxies }: Network): (address: string) => boolean {
  const trusted = parseNetworks(['127.0.0.0/8', '::1', ...trustedProxies]);
  return (address) => {
    const ip = plain(address);
    return isIP(ip) > 0 && trusted.check(ip, isIP(ip) === 6 ? 'ipv6' : 'ipv4');
  };
}

/** Finds the client: the last address of `X-Forwarded-For` that is no trusted proxy's. Those before it are the client's own words. */
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
    // A name that a trusted proxy writes instead of an address still tells its clients apart.
    client = ip.slice(0, longestName);
    if (!isTrusted(ip)) break;
  }
  return client;
}

/** Characters of what a proxy names a client by; an IPv6 address has up to 45. */
const longestName = 64;

/** Reads an item of `X-Forwarded-For`. Some proxies write a port behind the address. */
function addressIn(item: string): string {
  const [, bracketed, v4] = /^(?:\[([^\]]*)\](?::\d+)?|(\d+(?:\.\d+){3}):\d+)$/.exec(item) ?? [];
  return plain(bracketed ?? v4 ?? item);
}

const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/, '');

const portOf = ({ port, protocol }: URL): number =>
  port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port);
