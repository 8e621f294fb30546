import { decodedOrAsIs } from '../shared/text.ts';
import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';

/** In lower case, without a final dot. */
export const plainName = (name: string): string => name.toLowerCase().replace(/\.$/, '');

/** Destinations that are allowed besides public addresses. */
export interface AllowedDestinations {
  readonly hosts: ReadonlySet<string>;
  readonly networks: readonly [ipaddr.IPv4 | ipaddr.IPv6, number][];
}

/**
 * Parses a setting such as `localhost`, `10.0.0.0/8` or `192.168.1.7`.
 *
 * @throws Error for an invalid network
 */
export function parseAllowedDestinations(items: readonly string[]): AllowedDestinations {
  const hosts = new Set<string>();
  const networks: [ipaddr.IPv4 | ipaddr.IPv6, number][] = [];
  for (const item of items) {
    if (item.includes('/')) networks.push(ipaddr.parseCIDR(item));
    else if (isIP(item) === 4) networks.push([ipaddr.parse(item), 32]);
    else if (isIP(item) === 6) networks.push([ipaddr.parse(item), 128]);
    else hosts.add(plainName(item));
  }
  return { hosts, networks };
}

/**
 * Parses an address. IPv4-mapped addresses become IPv4. The leading zero keeps the library from reading the
 * IPv4-compatible `::1.2.3.4` as mapped.
 */
const parse = (address: string): ipaddr.IPv4 | ipaddr.IPv6 =>
  ipaddr.process(address.replace(/^::(?=\d+\.)/, '0::'));

/** IANA's global unicast addresses (RFC 4291). */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/** Global unicast ranges without web servers (IANA's registry of special-purpose IPv6 addresses). */
const specialUnicast = [
  // Special protocols: Teredo, benchmarks, ORCHID. The few reachable addresses are anycast services.
  '2001::/23',
  // Documentation.
  '2001:db8::/32',
  '3fff::/20',
  // 6to4 hides an IPv4 address; RFC 7526 retires its relays.
  '2002::/16',
  // AS112 answers DNS queries for private addresses.
  '2620:4f:8000::/48',
].map((range) => ipaddr.IPv6.parseCIDR(range));

/** NAT64 (RFC 6052): packets go to the IPv4 address in the last four bytes. */
const nat64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  // The library knows IANA's special IPv4 ranges, even those for anycast.
  if (address instanceof ipaddr.IPv4) return address.range() === 'unicast';
  if (address.match(nat64)) return isPublic(new ipaddr.IPv4(address.toByteArray().slice(12)));
  return address.match(globalUnicast) && !specialUnicast.some((range) => address.match(range));
}

/** Whether an address is public unicast, or allowed by the deployment. */
export function isReachable(address: string, allowed: AllowedDestinations): boolean {
  const parsed = parse(address);
  if (isPublic(parsed)) return true;
  return allowed.networks.some(
    ([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits),
  );
}

/** Loopback, or the unspecified address, which systems treat as loopback. */
const isThisMachine = (address: string): boolean =>
  ['loopback', 'unspecified'].includes(parse(address).range());

/** RFC 6761: these names always mean this machine. */
export const isLocalName = (name: string): boolean => name === 'localhost' || name.endsWith('.localhost');

/** Whether a name is allowed. `localhost` includes the names below it. */
export const isAllowedName = (name: string, { hosts }: AllowedDestinations): boolean =>
  hosts.has(name) || (isLocalName(name) && hosts.has('localhost'));

/**
 * @param hostname from `URL`, which normalizes IPv4 addresses to `127.0.0.1`
 * @returns undefined for a name
 */
export function addressOfHost(hostname: string): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 ? undefined : bare;
}

/**
 * The hosts of the service's APIs, which are refused as destinations. Each is a {@link hostKey}, `:port`
 * unless it is 80 or 443, and the API's base path if the host is shared.
 */
export type OwnHosts = ReadonlySet<string>;

/**
 * Maps all names of a host to one: all loopback names and addresses, and all hosts of an API of API Gateway,
 * such as a VPC endpoint's (`<api>-vpce-….execute-api.<region>.…`) or an IPv6 one, which differ after the
 * region.
 */
function hostKey(hostname: string): string {
  const name = plainName(hostname);
  const address = addressOfHost(name);
  if (address === undefined ? isLocalName(name) : isThisMachine(address)) return 'localhost';
  const api = /^([a-z0-9]+)(?:-vpce-[a-z0-9]+)?\.execute-api\.([a-z0-9-]+)\./.exec(name);
  return api === null ? name : `${api[1] ?? ''}.execute-api.${api[2] ?? ''}`;
}

/** Parses `host`, `host:port` or `host/base`; IPv6 in brackets. */
export function parseOwnHosts(items: readonly string[]): OwnHosts {
  return new Set(
    items.map((item) => {
      const [, host = item, port = '', base = ''] = /^(\[.*\]|[^:/]*)(:\d+)?(\/.*)?$/.exec(item) ?? [];
      return hostKey(host) + port + base;
    }),
  );
}

/** The default ports of HTTP may be left out. */
const portForms = (port: number): readonly string[] =>
  port === 80 || port === 443 ? [`:${port}`, ''] : [`:${port}`];

/**
 * Whether a destination is an API of the service.
 *
 * @param host a name or an address
 * @param path with its query. It is decoded, its dots are resolved and extra slashes ignored, as servers do
 */
export function isOwnHost(host: string, port: number, own: OwnHosts, path = '/'): boolean {
  const places = portForms(port).map((form) => hostKey(host) + form);
  if (places.some((place) => own.has(place))) return true;
  const [, base] = decodedOrAsIs(new URL(`http://host${path}`).pathname).split(/[/\\]+/);
  return base !== undefined && places.some((place) => own.has(`${place}/${base}`));
}

/** Whether only paths below a base path belong to the service. */
export const isSharedHost = (host: string, own: OwnHosts): boolean =>
  [...own].some((one) => one.startsWith(`${hostKey(host)}/`));

/**
 * Whether a host may belong to API Gateway or Lambda: several labels, no port, and not this machine.
 *
 * @param name a {@link plainName}
 */
export const isGatewayHost = (name: string): boolean =>
  name.length <= 253 && /^([a-z0-9-]{1,63}\.)+[a-z][a-z0-9-]{0,62}$/.test(name) && !isLocalName(name);

/**
 * The network in which a client can choose its address: an IPv4 address, or the first half of an IPv6
 * address.
 */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/64`).toString();
}
