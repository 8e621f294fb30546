import { describe, expect, it } from 'vitest';
import { isReachable, parseAllowedDestinations } from '../../../lambdas/destination/addresses.ts';

const nothing = parseAllowedDestinations([]);

/** The bounds of each range in IANA’s registries of special-purpose IPv4 and IPv6 addresses. */
describe('an address', () => {
  it.each([
    ['this network', '0.0.0.0', '0.255.255.255'],
    ['private use', '10.0.0.0', '10.255.255.255'],
    ['shared address space', '100.64.0.0', '100.127.255.255'],
    ['loopback', '127.0.0.0', '127.255.255.255'],
    ['link-local', '169.254.0.0', '169.254.255.255'],
    ['the cloud’s metadata', '169.254.169.254', '169.254.170.2'],
    ['private use', '172.16.0.0', '172.31.255.255'],
    ['protocols of the IETF', '192.0.0.0', '192.0.0.255'],
    ['anycast within that', '192.0.0.9', '192.0.0.10'],
    ['documentation', '192.0.2.0', '192.0.2.255'],
    ['AS112', '192.31.196.0', '192.31.196.255'],
    ['automatic multicast tunneling', '192.52.193.0', '192.52.193.255'],
    ['relays of 6to4', '192.88.99.0', '192.88.99.255'],
    ['private use', '192.168.0.0', '192.168.255.255'],
    ['AS112', '192.175.48.0', '192.175.48.255'],
    ['benchmarks', '198.18.0.0', '198.19.255.255'],
    ['documentation', '198.51.100.0', '198.51.100.255'],
    ['documentation', '203.0.113.0', '203.0.113.255'],
    ['multicast', '224.0.0.0', '239.255.255.255'],
    ['reserved', '240.0.0.0', '255.255.255.254'],
    ['broadcast', '255.255.255.255', '255.255.255.255'],
    ['unspecified', '::', '::'],
    ['loopback', '::1', '::1'],
    ['IPv4-compatible', '::127.0.0.1', '::169.254.169.254'],
    ['IPv4-compatible and public', '::8.8.8.8', '::93.184.216.34'],
    ['IPv4-mapped', '::ffff:127.0.0.1', '::ffff:169.254.169.254'],
    ['IPv4-translated', '::ffff:0:127.0.0.1', '::ffff:0:8.8.8.8'],
    ['NAT64 to loopback', '64:ff9b::7f00:1', '64:ff9b::127.0.0.1'],
    ['NAT64 to metadata and to private use', '64:ff9b::169.254.169.254', '64:ff9b::10.0.0.1'],
    ['local NAT64', '64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff'],
    ['discard', '100::', '100::ffff:ffff:ffff:ffff'],
    ['a dummy prefix', '100:0:0:1::', '100:0:0:1:ffff:ffff:ffff:ffff'],
    ['not in use yet', '200::', '1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['Teredo', '2001::', '2001:0:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['anycast services', '2001:1::1', '2001:1::3'],
    ['benchmarks', '2001:2::', '2001:2:0:ffff:ffff:ffff:ffff:ffff'],
    ['automatic multicast tunneling', '2001:3::', '2001:3:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['AS112', '2001:4:112::', '2001:4:112:ffff:ffff:ffff:ffff:ffff'],
    ['ORCHID', '2001:10::', '2001:2f:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['identities of drones', '2001:30::', '2001:3f:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['protocols of the IETF', '2001:40::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['documentation', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['6to4 of a private address', '2002:7f00:1::', '2002:a00:1::'],
    ['6to4', '2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['AS112', '2620:4f:8000::', '2620:4f:8000:ffff:ffff:ffff:ffff:ffff'],
    ['documentation', '3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['not in use yet', '4000::', '5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['segment routing', '5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['unique-local', 'fc00::', 'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['the metadata of AWS', 'fd00:ec2::254', 'fd00:ec2::253'],
    ['link-local', 'fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['site-local', 'fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['multicast', 'ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ])('of %s is refused: %s, %s', (_range, first, last) => {
    expect([isReachable(first, nothing), isReachable(last, nothing)]).toEqual([false, false]);
  });

  it.each([
    '9.255.255.255',
    '100.63.255.255',
    '100.128.0.0',
    '172.15.255.255',
    '192.0.1.0',
    '198.17.255.255',
    '223.255.255.255',
    '::ffff:8.8.8.8',
    '64:ff9b::8.8.8.8',
    '2000::',
    '2001:200::',
    '2001:db7:ffff::',
    '2001:db9::',
    '2001:4860:4860::8888',
    '3fff:1000::',
  ])('%s is public', (address) => {
    expect(isReachable(address, nothing)).toBe(true);
  });

  it('is allowed in any spelling', () => {
    expect([...parseAllowedDestinations(['Intranet.Example.COM.']).hosts]).toEqual(['intranet.example.com']);
  });

  it('that is not public is reachable if the deployment allows its network in the same family', () => {
    const allowed = parseAllowedDestinations(['10.0.0.0/8', 'fd00::/8']);
    const reachable = (address: string) => isReachable(address, allowed);
    expect(['10.1.2.3', '::ffff:10.1.2.3', 'fd12::1'].map(reachable)).toEqual([true, true, true]);
    expect(['11.1.2.3', '192.168.0.1', '::10.1.2.3', '64:ff9b::10.1.2.3', 'fc00::1'].map(reachable)).toEqual([
      true,
      false,
      false,
      false,
      false,
    ]);
  });
});
