/** Runs the operations of one version of a client in a separate process. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import type { Client, Version } from './clients.ts';
import { declarationsOf, programOf } from './install.ts';
import { resultShape, type Result } from './result.ts';

/** The service, the account, and how the service reaches this machine. */
export interface Target {
  readonly url: string;
  readonly token: string;
  /** Whether the account belongs to the run, so that its signing keys may be rotated. */
  readonly isOwn: boolean;
  /** Undefined if the service runs on this machine. */
  readonly receiver: { readonly url: string; readonly port: number } | undefined;
}

export async function resultsOf(
  client: Client,
  version: Version,
  target: Target,
): Promise<readonly Result[]> {
  const program = await programOf(client, version);
  const [command = '', ...args] = program.command;
  const declarations = declarationsOf(client, version);
  const child = spawn(command, args, {
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      ...program.env,
      PYTHONDONTWRITEBYTECODE: '1',
      CONFORMANCE_URL: target.url,
      CONFORMANCE_TOKEN: target.token,
      CONFORMANCE_OWN_ACCOUNT: String(target.isOwn),
      ...(declarations !== undefined && { CONFORMANCE_DECLARATIONS: declarations }),
      ...(target.receiver && {
        CONFORMANCE_RECEIVER: target.receiver.url,
        CONFORMANCE_RECEIVER_PORT: String(target.receiver.port),
      }),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const errors = text(child.stderr);
  const results: Result[] = [];
  for await (const line of createInterface(child.stdout)) {
    // The Python client prints the log lines that it reads.
    if (line.startsWith('{"operation"')) results.push(resultShape.parse(JSON.parse(line)));
  }
  if (results.length === 0) {
    throw new Error(`${client.name} ${version.name} did not run:\n${await errors}`);
  }
  return results;
}
