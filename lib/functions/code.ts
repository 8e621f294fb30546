/** In the package the code of the functions is already built: see `pack/build.ts`. */
import { Code } from 'aws-cdk-lib/aws-lambda';
import { bundle } from '../bundle.ts';

const folders = new Map<string, string>();

export function codeOf(handler: string): Code {
  const folder = folders.get(handler) ?? bundle(handler);
  folders.set(handler, folder);
  return Code.fromAsset(folder);
}
