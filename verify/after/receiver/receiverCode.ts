/** The code of the receiver. The package has it made ahead: see `pack/madeAhead.ts`. */
import { join } from 'node:path';
import { buildSync } from 'esbuild';

/** Bundles the receiver as one text of CommonJS, which is how Lambda treats code in a template. */
export function receiverCode(): string {
  const { outputFiles } = buildSync({
    entryPoints: [join(import.meta.dirname, 'receiver.ts')],
    write: false,
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
  });
  return outputFiles.map(({ text }) => text).join('');
}
