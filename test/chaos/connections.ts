/** The connections of this process to the stand-ins for AWS, by whatever part of it: functions, or the stage that makes jobs again. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** The places of the remote address and of the socket's number in a line of Linux's table. */
const [remoteAt, inodeAt] = [2, 9];

/** Counts them by what Linux says of this process's descriptors. */
export function connectionsToAws(): number {
  const ports = new Set(
    Object.entries(process.env).flatMap(([name, url = '']) =>
      name.startsWith('AWS_ENDPOINT_URL_') ? [Number(new URL(url).port)] : [],
    ),
  );
  const sockets = new Set(readdirSync('/proc/self/fd').flatMap(targetOf));
  return readFileSync('/proc/self/net/tcp', 'utf8')
    .split('\n')
    .slice(1)
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => {
      const port = Number.parseInt(fields[remoteAt]?.split(':')[1] ?? '', 16);
      return ports.has(port) && sockets.has(`socket:[${fields[inodeAt]}]`);
    }).length;
}

function targetOf(descriptor: string): readonly string[] {
  try {
    return [readlinkSync(`/proc/self/fd/${descriptor}`)];
  } catch {
    // It was closed meanwhile: that of the listing always is.
    return [];
  }
}
