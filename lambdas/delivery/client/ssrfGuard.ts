/** The guard against requests to addresses that are not public, or to this service itself (SSRF). */
import { isAllowedName, isOwnHost, isReachable, plainName } from '../../destination/addresses.ts';
import type { HostRules, Target } from '../../destination/destination.ts';
import type { Address, Resolver } from './nameResolver.ts';
import type { LookupFunction } from 'node:net';

export class RefusedDestination extends Error {}

export const refusal = (hostname: string, address: string): RefusedDestination =>
  new RefusedDestination(
    hostname === address
      ? `The destination ${address} is not a public address.`
      : `The destination ${hostname} has the address ${address}, which is not public.`,
  );

export const ownHostRefusal = (hostname: string): RefusedDestination =>
  new RefusedDestination(
    `The destination ${hostname} is this service itself; messages to it would go in circles.`,
  );

/** @throws RefusedDestination unless all of a name's addresses are allowed */
function checkAddresses(
  { hostname, port }: Target,
  addresses: readonly Address[],
  { allowed, own }: HostRules,
): void {
  if (addresses.some(({ address }) => isOwnHost(address, port, own))) throw ownHostRefusal(hostname);
  if (isAllowedName(plainName(hostname), allowed)) return;
  const unsafe = addresses.find(({ address }) => !isReachable(address, allowed));
  if (unsafe !== undefined) throw refusal(hostname, unsafe.address);
}

/** How many addresses of each family are tried. A name may have thousands, of which none answers. */
const mostAddresses = 4;

export const lookupFor =
  (target: Target, resolver: Resolver, rules: HostRules): LookupFunction =>
  (hostname, options, done) => {
    resolver(hostname)
      .then((addresses) => {
        checkAddresses(target, addresses, rules);
        const tried = ([4, 6] as const).flatMap((family) =>
          addresses.filter((address) => address.family === family).slice(0, mostAddresses),
        );
        const [first] = tried;
        if (first === undefined) done(new Error(`The name ${hostname} has no address.`), '');
        else if (options.all === true) done(null, tried);
        else done(null, first.address, first.family);
      })
      .catch((error: unknown) => {
        done(error instanceof Error ? error : new Error(String(error)), '');
      });
  };
