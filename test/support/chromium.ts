/** The browser of the tests: Chromium from its npm package on Linux x64, an installed Chrome on other machines. */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import * as z from 'zod/mini';
import { root } from './bundledStage.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The folder of the unpacked browser; null for an installed Chrome. */
    chromium: string | null;
  }
}

/** Unpacks the browser once. Two processes may do so at once, and neither sees a part of it. */
export default function setup(project: TestProject): void {
  project.provide('chromium', process.platform === 'linux' && process.arch === 'x64' ? unpacked() : null);
}

function unpacked(): string {
  const { version } = z
    .object({ version: z.string() })
    .parse(JSON.parse(readFileSync(join(root, 'node_modules/@sparticuz/chromium/package.json'), 'utf8')));
  const folder = join(root, `.cache/chromium-${version}`);
  if (existsSync(folder)) return folder;
  const draft = `${folder}.${randomUUID()}`;
  mkdirSync(draft, { recursive: true });
  execFileSync(
    process.execPath,
    ['-e', "import('@sparticuz/chromium').then(({ default: chromium }) => chromium.executablePath())"],
    {
      cwd: root,
      // The package unpacks into the system's temporary folder, and also unpacks its libraries if it believes to be in a Lambda.
      env: { ...process.env, TMPDIR: draft, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs22.x' },
    },
  );
  try {
    renameSync(draft, folder);
  } catch (error) {
    rmSync(draft, { recursive: true });
    if (!existsSync(folder)) throw error; // Otherwise another process was first.
  }
  return folder;
}
