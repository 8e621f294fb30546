/**
 * A server through which commands reach the stage that uses a data directory. Its address and password are in
 * the file `control` there, which only the owner can read.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import * as z from 'zod/mini';
import { answerJson, close, listen } from '../http.ts';
import { jsonOrUndefined } from '../json.ts';
import type { DataDirectory } from '../stage/dataDirectory.ts';
import { StageError } from '../stage/stageError.ts';
import { parkedJobs, type ParkedJobs } from '../sqs/redrive.ts';
import { writeBackup } from './writeBackup.ts';

const controlName = 'control';
const redriveName = 'redrive';
const control = z.object({ url: z.url(), password: z.string() });

interface ControlOptions {
  readonly data: DataDirectory;
  readonly redriveAll: () => Promise<ParkedJobs>;
  readonly announce: (sentence: string) => void;
  readonly report: (error: unknown) => void;
}

export interface Control {
  readonly url: string;
  /** Writes the file with the address. Returns a function that removes it. */
  readonly announce: () => () => Promise<void>;
  readonly close: () => Promise<void>;
}

export async function startControl(options: ControlOptions): Promise<Control> {
  const { data, redriveAll, report } = options;
  const password = randomBytes(32).toString('base64url');
  let isBusy = false;

  async function backUp(response: ServerResponse): Promise<void> {
    if (isBusy) {
      refuse(response, 'Another backup is being made: wait until it is done.');
      return;
    }
    isBusy = true;
    try {
      response.writeHead(200, { 'content-type': 'application/gzip' });
      const entries = await writeBackup(data.folder, data.store, response);
      options.announce(`A backup was made, of ${entries} entries.`);
    } finally {
      isBusy = false;
    }
  }

  function isAllowed({ headers: { authorization = '' } }: IncomingMessage): boolean {
    const [given, right] = [Buffer.from(authorization), Buffer.from(`Bearer ${password}`)];
    return given.length === right.length && timingSafeEqual(given, right);
  }

  const { server, url } = await listen((request, response) => {
    if (!isAllowed(request)) {
      answerJson(response, 401, 'application/json', { error: 'The password is wrong.' });
      return;
    }
    const work = request.url === `/${redriveName}` ? answerRedrive(response, redriveAll) : backUp(response);
    work.catch((error: unknown) => {
      if (error instanceof StageError && !response.headersSent) {
        refuse(response, error.message);
        return;
      }
      response.destroy();
      report(error);
    });
  });
  return {
    url,
    announce: () => {
      data.write(controlName, JSON.stringify({ url, password }));
      return () => {
        data.remove(controlName);
        return Promise.resolve();
      };
    },
    close: () => close(server),
  };
}

async function answerRedrive(
  response: ServerResponse,
  redriveAll: ControlOptions['redriveAll'],
): Promise<void> {
  answerJson(response, 200, 'application/json', await redriveAll());
}

function refuse(response: ServerResponse, error: string): void {
  answerJson(response, 409, 'application/json', { error });
}

const refusal = z.object({ error: z.string() });

/**
 * Requests a backup from the stage that uses a data directory.
 *
 * @returns undefined if no stage uses it
 * @throws StageError if the stage refuses
 */
export async function askForBackup(folder: string): Promise<Readable | undefined> {
  const body = (await ask(folder, 'backup'))?.body;
  return body ? Readable.fromWeb(body) : undefined;
}

/**
 * Asks the stage that uses a data directory to send back parked jobs. @throws StageError if no stage uses the
 * directory, or the stage refuses
 */
export async function askForRedrive(folder: string): Promise<ParkedJobs> {
  const answer = await ask(folder, redriveName);
  if (answer !== undefined) return parkedJobs.parse(await answer.json());
  throw new StageError(`No stage uses ${resolve(folder)}. It sends back parked jobs when it starts.`);
}

async function ask(folder: string, what: string): Promise<Response | undefined> {
  const path = join(folder, controlName);
  if (!existsSync(path)) return undefined;
  const { data } = control.safeParse(jsonOrUndefined(readFileSync(path, 'utf8')));
  if (data === undefined) return undefined;
  const headers = { authorization: `Bearer ${data.password}` };
  const answer = await fetch(new URL(what, data.url), { method: 'POST', headers }).catch(() => undefined);
  // The file may be left from a killed stage, whose port another program now uses.
  if (answer === undefined || answer.status === 401 || answer.body === null) return undefined;
  if (answer.status === 200) return answer;
  const { data: told } = refusal.safeParse(jsonOrUndefined(await answer.text()));
  throw new StageError(told?.error ?? `The stage answered ${answer.status}.`);
}
