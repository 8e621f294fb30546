/** `svc-queue messages` and the other commands for users of an account, and `svc-queue api`. */
import { findConnection } from '../../../operate/api/connection.ts';
import { parseApi } from '../../../operate/api/options.ts';
import { runApi } from '../../../operate/api/run.ts';
import { runCommand } from '../../runCommand.ts';

export function run(args: readonly string[]): Promise<void> {
  const command = parseApi(args);
  const stop = new AbortController();
  // A single request just ends.
  if (command.isFollowing || command.isAll || command.operation.isBulk)
    process.once('SIGINT', () => {
      stop.abort();
    });
  return runCommand(() =>
    runApi(command, findConnection(process.env), {
      print: console.log,
      say: console.error,
      width: process.stdout.isTTY ? process.stdout.columns : undefined,
      signal: stop.signal,
    }),
  );
}
