/** Stands in, in the package, for the modules that bundle the functions and build the console: all of it was made ahead. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The bundles of the package's two entry points, the construct and the command, are in folders of their own. */
const functions =
  ['functions', '../functions']
    .map((path) => join(import.meta.dirname, path))
    .find((path) => existsSync(path)) ?? '';

/** @returns the folder of a handler's bundle */
export const bundle = (handler: string): string => join(functions, handler);

/** @returns the folder of the console's files */
export const writeConsole = (): string => join(functions, 'console/console');
