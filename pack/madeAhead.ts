/**
 * Stands in, in the package, for the modules that bundle the functions and the receiver of `verify`, and build the console: all of it
 * was made ahead.
 */
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as z from 'zod/mini';

/** The file that says, for each function, where each of its files is. */
export const functionTable = 'table.json';

/** The file of the code of the receiver of `verify`. */
export const receiverFile = 'receiver.cjs';

const tableShape = z.record(z.string(), z.record(z.string(), z.string()));

/** The bundles of the package's two entry points, the construct and the command, are in separate folders. */
const functions =
  ['functions', '../functions']
    .map((path) => join(import.meta.dirname, path))
    .find((path) => existsSync(path)) ?? '';

let folder: string | undefined;

/** Makes a folder that is deleted when the process ends. By then the CDK has copied what is in it. */
function makeFolder(): string {
  const made = mkdtempSync(join(tmpdir(), 'svc-queue-functions-'));
  process.once('exit', () => {
    rmSync(made, { recursive: true, force: true });
  });
  return made;
}

/** Puts together the folder of a handler's bundle. */
export function bundle(handler: string): string {
  const files = tableShape.parse(JSON.parse(readFileSync(join(functions, functionTable), 'utf8')))[handler];
  if (files === undefined) throw new Error(`The package has no function ${handler}.`);
  folder ??= makeFolder();
  const made = join(folder, handler);
  for (const [path, place] of Object.entries(files)) cpSync(join(functions, place), join(made, path));
  return made;
}

/** @returns the folder of the console's files */
export const writeConsole = (): string => join(functions, 'console/console');

/** @returns the code of the receiver of `verify` */
export const receiverCode = (): string => readFileSync(join(functions, receiverFile), 'utf8');
