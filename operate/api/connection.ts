/** The address of the service, and the token of an account: where they are found, and requests with them. */
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { stageVariables, variablesIn, type Environment } from '../../cli/commandLine.ts';
import { callApi } from '../callApi.ts';
import { OperateError } from '../operateError.ts';
import { knownOperation } from './operations.ts';
import { requestOf, type Request, type Values } from './request.ts';

const connection = z.object({ SVC_URL: z.url(), SVC_TOKEN: z.string().check(z.minLength(1)) });
export type Connection = z.output<typeof connection>;

/** The file of `svc-queue login`, in the user's folder for configuration. */
const loginFile = ({ XDG_CONFIG_HOME, APPDATA }: Environment): string =>
  join(XDG_CONFIG_HOME || APPDATA || join(homedir(), '.config'), 'svc-queue', 'login');

const fromVariables = (variables: Environment): Connection | undefined =>
  connection.safeParse(variables).data;

/**
 * Finds address and token: in the environment, of the local stage of this folder, or as `svc-queue login` stored them. Both come from
 * one place, so that no place's token goes to another's address.
 *
 * @throws OperateError if they are not found
 */
export function findConnection(environment: Environment): Connection {
  const { SVC_URL, SVC_TOKEN } = environment;
  if (SVC_URL || SVC_TOKEN) {
    const given = connection.safeParse({ SVC_URL, SVC_TOKEN });
    if (given.success) return given.data;
    const field = String(given.error.issues[0]?.path[0]);
    throw new OperateError(
      `The variable ${field} is missing or wrong; SVC_URL and SVC_TOKEN are both needed.`,
    );
  }
  const found =
    fromVariables(stageVariables(environment)) ?? fromVariables(variablesIn(loginFile(environment)));
  if (found !== undefined) return found;
  throw new OperateError(
    'Which service? Set SVC_URL and SVC_TOKEN, run svc-queue login, or use the folder of a local stage.',
  );
}

/** @returns the file, which only its user may read */
export function storeConnection({ SVC_URL, SVC_TOKEN }: Connection, environment: Environment): string {
  const file = loginFile(environment);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  if (existsSync(file)) chmodSync(file, 0o600);
  writeFileSync(file, `SVC_URL=${SVC_URL}\nSVC_TOKEN='${SVC_TOKEN}'\n`, { mode: 0o600 });
  return file;
}

export interface Answer {
  readonly json: unknown;
  /** Where the next page begins. */
  readonly cursor: string | undefined;
}

const withCursor = z.object({ cursor: z.string().check(z.minLength(1)) });

/** @throws OperateError with the service's sentence if it refuses the request */
export async function ask({ SVC_URL, SVC_TOKEN }: Connection, request: Request): Promise<Answer> {
  const address = new URL(request.path.slice(1), SVC_URL.endsWith('/') ? SVC_URL : `${SVC_URL}/`);
  const { text, headers } = await callApi(address, `Bearer ${SVC_TOKEN}`, request);
  const isJson = headers.get('content-type')?.includes('json') === true && text !== '';
  const json: unknown = isJson ? JSON.parse(text) : text;
  const cursor = withCursor.safeParse(json).data?.cursor ?? headers.get('svc-cursor');
  return { json, cursor: cursor ?? undefined };
}

/** The answer of an operation. @throws OperateError */
export const askOperation = async (to: Connection, id: string, values: Values): Promise<unknown> =>
  (await ask(to, requestOf(knownOperation(id), values))).json;
