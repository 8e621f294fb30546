/**
 * Connections within this process: from the functions and the stage to the fault proxies, and from those to the stand-ins for
 * AWS.
 */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** The columns of addresses, state and socket number in Linux's table. */
const [localAt, remoteAt, stateAt, inodeAt] = [1, 2, 3, 9];
const listening = '0A';

/** Counts the connections of this process's descriptors. */
export function connectionsWithin(): number {
  const sockets = new Set(readdirSync('/proc/self/fd').flatMap(targetOf));
  const own = readFileSync('/proc/self/net/tcp', 'utf8')
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => sockets.has(`socket:[${fields[inodeAt]}]`));
  const servers = new Set(
    own.filter((fields) => fields[stateAt] === listening).map((fields) => portOf(fields[localAt])),
  );
  return own.filter((fields) => servers.has(portOf(fields[remoteAt]))).length;
}

const portOf = (address = ''): string => address.slice(address.indexOf(':') + 1);

function targetOf(descriptor: string): readonly string[] {
  try {
    return [readlinkSync(`/proc/self/fd/${descriptor}`)];
  } catch {
    // The descriptor was closed after it was listed. The one that was used for listing always is.
    return [];
  }
}
