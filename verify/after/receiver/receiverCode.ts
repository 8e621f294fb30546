/** The receiver's code. The package has it prebuilt: see `pack/madeAhead.ts`. */
import { join } from 'node:path';
import { buildSync } from 'esbuild';

/** Bundles the receiver as CommonJS, because Lambda treats code in a template as that. */
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
