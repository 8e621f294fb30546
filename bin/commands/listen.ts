/** `svc-queue listen`: takes messages and makes them as requests to an address that the service does not reach. */
import { findConnection } from '../../operate/api/connection.ts';
import { listen } from '../../operate/listen.ts';
import { parseListen } from '../../operate/listenOptions.ts';
import { runCommand } from '../runCommand.ts';

export function run(args: readonly string[]): Promise<void> {
  const options = parseListen(args);
  return runCommand(() => listen(findConnection(process.env), options));
}
