/** The compared databases: other programs on this machine, and this project's engine. All have the service's tables. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod/mini';
import { findDynoxide } from './dynoxide.ts';
import { bytesToText, textToBytes } from '../../local/dynamodb/codec.ts';
import { handOverTo } from '../../local/dynamodb/dynamodb.ts';
import { Rows } from '../../local/dynamodb/rows.ts';
import { loopback } from '../../local/http.ts';
import { Store } from '../../local/store/store.ts';
import { limitForHangsMs } from '../support/limits.ts';
import { findPython, installPackage } from '../support/python.ts';
import { underWatch } from '../support/underWatch.ts';
import { creations } from './tables.ts';
import { freePort } from '../support/freePort.ts';

/** DynamoDB as a client sees it, with bytes as `Uint8Array`s. Refused calls throw an error with a `code` and a message. */
export interface Database {
  call(operation: string, input: object): Promise<object>;
}

export interface OtherDatabase extends Database {
  readonly url: string;
  clear(tables: Iterable<string>): Promise<void>;
  stop(): Promise<void>;
}

/** This project's engine, on a separate store in memory. */
export interface Engine extends Database {
  close(): Promise<void>;
}

/** @param report called with the engine's own faults */
export function startEngine(report: (error: unknown) => void): Engine {
  const store = new Store(undefined);
  return { call: handOverTo(new Rows(store), report), close: () => store.close() };
}

/** An error from another database. */
export class Refusal extends Error {
  readonly code: string;
  readonly members: object;

  constructor(code: string, message: string, members: object) {
    super(message);
    this.code = code;
    this.members = members;
  }
}

const authorization =
  'AWS4-HMAC-SHA256 Credential=local/20200101/eu-central-1/dynamodb/aws4_request, SignedHeaders=host, Signature=none';

export async function startDynoxide(): Promise<OtherDatabase> {
  const program = await findDynoxide();
  const port = await freePort();
  return started([program, 'serve', '--host', loopback, '--port', String(port)], port);
}

/** @returns undefined if no Python on this machine can run it */
export async function startMoto(): Promise<OtherDatabase | undefined> {
  const python = findPython();
  if (python === undefined) return undefined;
  const interpreter = await installPackage(python, { name: 'moto[server]', version: '5.2.5' });
  const port = await freePort();
  const script = join(import.meta.dirname, 'motoServer.py');
  return started([interpreter, script, '-H', loopback, '-p', String(port)], port);
}

async function started(command: readonly string[], port: number): Promise<OtherDatabase> {
  const watched = underWatch(command);
  const child = spawn(watched.file, watched.args, { stdio: ['pipe', 'ignore', 'ignore'] });
  const ended = new Promise<void>((resolve) =>
    child.once('exit', () => {
      resolve();
    }),
  );
  const url = `http://${loopback}:${port}/`;
  const database = {
    url,
    call: (operation: string, input: object) => call(url, operation, input),
    clear: async (tables: Iterable<string>) => {
      for (const name of tables) {
        const creation = creations.get(name);
        if (creation === undefined) continue;
        await database.call('DeleteTable', { TableName: name });
        await database.call('CreateTable', creation);
      }
    },
    stop: async () => {
      // Closing stdin ends the program.
      child.stdin.destroy();
      await ended;
    },
  };
  const deadline = performance.now() + limitForHangsMs;
  for (;;) {
    try {
      await database.call('ListTables', {});
      break;
    } catch (error) {
      if (child.exitCode !== null || performance.now() > deadline) throw error;
      await sleep(50);
    }
  }
  for (const creation of creations.values()) await database.call('CreateTable', creation);
  return database;
}

/** Writes an input as AWS JSON, with bytes in base64. */
export const toJson = (input: object): string => JSON.stringify(bytesToText(input));

async function call(url: string, operation: string, input: object): Promise<object> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: {
      authorization,
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-date': '20200101T000000Z',
      'x-amz-target': `DynamoDB_20120810.${operation}`,
    },
    body: toJson(input),
  });
  const text = await answer.text();
  const output = objectIn(text);
  if (answer.ok) return output;
  const { __type = String(answer.status), message, Message = text, Item } = refusal.parse(output);
  throw new Refusal(
    __type.slice(__type.lastIndexOf('#') + 1),
    message ?? Message,
    Item === undefined ? {} : { Item },
  );
}

const refusal = z.object({
  Item: z.optional(z.unknown()),
  __type: z.optional(z.string()),
  message: z.optional(z.string()),
  Message: z.optional(z.string()),
});

function objectIn(text: string): object {
  try {
    const parsed = textToBytes(JSON.parse(text));
    if (typeof parsed === 'object' && parsed !== null) return parsed;
  } catch {
    // Not JSON: an error page of the server.
  }
  return { message: text.slice(0, 500) };
}
