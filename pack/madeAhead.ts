/**
 * Replaces, in the package, the modules that bundle functions and the receiver of `verify`, or build the console: the package
 * contains the results.
 */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod/mini';

/** The location of each function's files. */
export const functionTable = 'table.json';

export const receiverFile = 'receiver.cjs';

const tableShape = z.record(z.string(), z.record(z.string(), z.string()));

/** The construct and the command are bundled into separate folders. */
const functions =
  ['functions', '../functions']
    .map((path) => join(import.meta.dirname, path))
    .find((path) => existsSync(path)) ?? '';

let folder: string | undefined;

/** Creates a folder that is deleted when the process ends, after the CDK has copied it. */
function makeFolder(): string {
  const made = mkdtempSync(join(tmpdir(), 'svc-queue-functions-'));
  process.once('exit', () => {
    rmSync(made, { recursive: true, force: true });
  });
  return made;
}

/** Assembles the folder of a handler's bundle. */
export function bundle(handler: string): string {
  const files = tableShape.parse(JSON.parse(readFileSync(join(functions, functionTable), 'utf8')))[handler];
  if (files === undefined) throw new Error(`The package has no function ${handler}.`);
  folder ??= makeFolder();
  const made = join(folder, handler);
  for (const [path, place] of Object.entries(files)) cpSync(join(functions, place), join(made, path));
  return made;
}

export const writeConsole = (): string => join(functions, 'console/console');

export const receiverCode = (): string => readFileSync(join(functions, receiverFile), 'utf8');
