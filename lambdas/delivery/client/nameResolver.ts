/**
 * Resolves the names of destinations: by the machine's file of hosts, then by the DNS.
 *
 * `dns.lookup` is not used, because its `getaddrinfo` has four threads: a few names whose servers do not
 * answer would delay all other deliveries. Each look-up has a separate channel, so that a failure does not
 * affect others.
 */
import { Resolver as DnsChannel } from 'node:dns/promises';
import { readFileSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { isLocalName, plainName } from '../../destination/addresses.ts';
import { secondMs } from '../../shared/clock.ts';

export interface Address {
  readonly address: string;
  readonly family: 4 | 6;
}

/**
 * Resolves a name to all its addresses, IPv4 first.
 *
 * @throws Error with a sentence for the message's log
 */
export type Resolver = (hostname: string) => Promise<readonly Address[]>;

/** How long to wait for addresses of each family after the other family has answered (ms). */
type RestMs = Readonly<Record<Address['family'], number>>;

interface ResolverOptions {
  /** `address:port` of each DNS server; the machine's by default. */
  readonly servers?: readonly string[];
  readonly hostsFile?: string;
  readonly restMs?: RestMs;
}

/**
 * A lost query is repeated after one second, and again after two more. Then its server has four seconds to
 * answer.
 */
export const channelOptions = { timeout: secondMs, tries: 3 } as const;

/** Less than the ten seconds that a delivery may take to connect, so that the error names the cause. */
const lookUpMs = 8 * secondMs;

/**
 * Both families are asked at once, so 0.3 s are enough if a server answers at all. Some servers never answer
 * for a family that they do not have. IPv4 has 2 s, enough to repeat a lost packet, because a function on
 * Lambda usually has no IPv6.
 */
export const defaultRestMs: RestMs = { 4: 2 * secondMs, 6: 300 };

/** Local names mean this machine (RFC 6761). */
const loopbackAddresses: readonly Address[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

export function createResolver({
  servers,
  hostsFile = '/etc/hosts',
  restMs = defaultRestMs,
}: ResolverOptions = {}): Resolver {
  const hosts = hostsOf(hostsFile);
  /** Look-ups in progress by name, shared by all deliveries to that name. Each ends after `lookUpMs`. */
  const underWay = new Map<string, Promise<readonly Address[]>>();

  return async (hostname) => {
    const name = plainName(hostname);
    if (isLocalName(name)) return loopbackAddresses;
    const known = hosts().get(name);
    if (known !== undefined) return known;
    const shared = underWay.get(name);
    if (shared !== undefined) return shared;
    const lookUp = askDns(name, servers, restMs).finally(() => {
      underWay.delete(name);
    });
    underWay.set(name, lookUp);
    return lookUp;
  };
}

/** Asks for both families at once. One answer is enough if the other fails or times out. */
function askDns(
  name: string,
  servers: readonly string[] | undefined,
  restMs: RestMs,
): Promise<readonly Address[]> {
  return new Promise((resolve, reject) => {
    // A new channel reads the machine's settings again. A laptop may change its network.
    const channel = new DnsChannel(channelOptions);
    if (servers !== undefined) channel.setServers(servers);
    const found: Address[] = [];
    const failures: unknown[] = [];
    let awaited = 2;

    const end = (): void => {
      clearTimeout(timer);
      if (found.length > 0) resolve(found.sort((one, other) => one.family - other.family));
      else reject(failureOf(name, failures));
      // Cancels the other query. Its failure is ignored.
      channel.cancel();
    };
    let timer = setTimeout(end, lookUpMs);
    const ask = async (family: Address['family'], query: Promise<readonly string[]>): Promise<void> => {
      try {
        found.push(...(await query).map((address) => ({ address, family })));
      } catch (error) {
        failures.push(error);
      }
      awaited -= 1;
      if (awaited === 0) {
        end();
      } else if (found.length > 0) {
        clearTimeout(timer);
        timer = setTimeout(end, restMs[family === 4 ? 6 : 4]);
      }
    };
    void ask(4, channel.resolve4(name));
    void ask(6, channel.resolve6(name));
  });
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : String(error);

/** Codes for a name that does not exist, or has no address of the family. */
const noAddress = ['ENOTFOUND', 'ENODATA'];
/** Codes for servers that did not answer. */
const noAnswer = ['ETIMEOUT', 'ECANCELLED'];

function failureOf(name: string, failures: readonly unknown[]): Error {
  const codes = failures.map(codeOf);
  const telling = codes.find((code) => !noAddress.includes(code));
  if (codes.length > 0 && telling === undefined) return new Error(`The name ${name} has no address.`);
  if (telling === undefined || noAnswer.includes(telling)) {
    return new Error(`The name ${name} could not be resolved: no DNS server answered.`);
  }
  return new Error(`The name ${name} could not be resolved: the DNS says ${telling}.`);
}

const hostsLifetimeMs = secondMs;

/** Bytes. A larger file is a block list, which would take long to read. */
const largestHostsFile = 1_048_576;

function hostsOf(file: string): () => ReadonlyMap<string, readonly Address[]> {
  let hosts: ReadonlyMap<string, readonly Address[]> = new Map();
  let version = '';
  let checkedAt = -Infinity;
  return () => {
    const time = performance.now();
    if (time - checkedAt < hostsLifetimeMs) return hosts;
    checkedAt = time;
    const { size = 0, mtimeMs = 0 } = statSync(file, { throwIfNoEntry: false }) ?? {};
    const found = `${size} ${mtimeMs}`;
    if (found === version) return hosts;
    version = found;
    hosts = size === 0 || size > largestHostsFile ? new Map() : parseHosts(readFileSync(file, 'utf8'));
    return hosts;
  };
}

/** Parses lines with an address and its names. `#` begins a comment. */
function parseHosts(text: string): ReadonlyMap<string, readonly Address[]> {
  const hosts = new Map<string, Address[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = isIP(address);
    if (family !== 4 && family !== 6) continue;
    for (const name of names) {
      const key = name.toLowerCase();
      hosts.set(key, [...(hosts.get(key) ?? []), { address, family }]);
    }
  }
  return hosts;
}
