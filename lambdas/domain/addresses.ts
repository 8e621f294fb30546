import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';

/** What a deployment lets deliveries reach besides public addresses. */
export interface AllowedDestinations {
  readonly hosts: ReadonlySet<string>;
  readonly networks: readonly [ipaddr.IPv4 | ipaddr.IPv6, number][];
}

/**
 * Reads a setting such as `localhost`, `10.0.0.0/8` or `192.168.1.7`.
 *
 * @throws Error for a network that cannot be read
 */
export function parseAllowedDestinations(items: readonly string[]): AllowedDestinations {
  const hosts = new Set<string>();
  const networks: [ipaddr.IPv4 | ipaddr.IPv6, number][] = [];
  for (const item of items) {
    if (item.includes('/')) networks.push(ipaddr.parseCIDR(item));
    else if (isIP(item) === 4) networks.push([ipaddr.parse(item), 32]);
    else if (isIP(item) === 6) networks.push([ipaddr.parse(item), 128]);
    else hosts.add(item.toLowerCase());
  }
  return { hosts, networks };
}

/**
 * Whether a delivery may connect to an address: a public unicast one, or one that the deployment allows.
 * IPv4-mapped IPv6 addresses are judged as the IPv4 address they carry.
 */
export function isReachable(address: string, allowed: AllowedDestinations): boolean {
  const parsed = ipaddr.process(address);
  if (parsed.range() === 'unicast') return true;
  return allowed.networks.some(
    ([network, bits]) => network.kind() === parsed.kind() && parsed.match(network, bits),
  );
}

/** The IP address a URL's host is, spelled `127.0.0.1` however the URL spells it, or undefined for a name. */
export function addressOfHost(hostname: string): string | undefined {
  const bare = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
  return isIP(bare) === 0 ? undefined : bare;
}

/** What one client has addresses of: an IPv4 address, or the first half of an IPv6 address. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/64`).toString();
}
