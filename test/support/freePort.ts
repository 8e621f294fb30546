import { close, listen } from '../../local/http.ts';

/** Finds a free port for a program that must be given one. The program fails if another takes the port first. */
export async function freePort(): Promise<number> {
  const { server, port } = await listen(() => undefined);
  await close(server);
  return port;
}
