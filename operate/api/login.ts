/** `svc-queue login`: stores an address and a token, after asking the service. */
import { createInterface } from 'node:readline/promises';
import { text } from 'node:stream/consumers';
import { command, parse, textLike } from '../../cli/commandLine.ts';
import { ApiRefusal } from '../callApi.ts';
import { OperateError } from '../operateError.ts';
import { ask, storeConnection, type Connection } from './connection.ts';

const url = textLike(/^https?:\/\/[^\s/]/, 'the address of a service, such as https://queue.example.com');

/** @throws Ending */
export const parseLogin = (args: readonly string[]): { readonly url?: string | undefined } =>
  parse(
    command(
      'login',
      'Stores the address of a service and a token, which it asks for or reads from standard input.',
    )
      .option('--url <url>', 'the service’s address', url)
      .addHelpText('after', '\nExample:\n  svc-queue login --url https://queue.example.com < token.txt'),
    args,
  ).opts();

/** Asks a person. A secret is not shown. */
async function question(prompt: string, isSecret: boolean): Promise<string> {
  if (isSecret) process.stderr.write(prompt);
  // Without an output, nothing is shown.
  const lines = createInterface({
    input: process.stdin,
    ...(!isSecret && { output: process.stderr }),
    terminal: true,
  });
  const answer = await lines.question(isSecret ? '' : prompt);
  lines.close();
  if (isSecret) process.stderr.write('\n');
  return answer.trim();
}

/** @returns the file with the login */
export async function login(given: string | undefined): Promise<string> {
  const isPerson = process.stdin.isTTY;
  if (given === undefined && !isPerson) throw new OperateError('Which service? Add --url.');
  const SVC_URL = given ?? url(await question('Address of the service: ', false));
  const SVC_TOKEN = isPerson ? await question('Token: ', true) : (await text(process.stdin)).trim();
  if (!/^[\w.~+/=-]+$/.test(SVC_TOKEN))
    throw new OperateError('The token is empty or has characters that none has.');
  const connection: Connection = { SVC_URL, SVC_TOKEN };
  await ask(connection, { method: 'GET', path: '/v2/queues', headers: {} }).catch((error: unknown) => {
    // A token for publishing may not read, but is one.
    if (!(error instanceof ApiRefusal && error.status === 403)) throw error;
  });
  return storeConnection(connection, process.env);
}
