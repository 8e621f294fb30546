/** The code of the functions. In the package it is made ahead: see `pack/build.ts`. */
import { Code } from 'aws-cdk-lib/aws-lambda';
import { bundle } from '../bundle.ts';

const folders = new Map<string, string>();

/** Bundles a handler, once in a process. */
export function codeOf(handler: string): Code {
  const folder = folders.get(handler) ?? bundle(handler);
  folders.set(handler, folder);
  return Code.fromAsset(folder);
}
