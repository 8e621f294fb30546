/** The tests' browser: Chromium from its npm package on Linux x64, an installed Chrome on other machines. */
import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import * as z from 'zod/mini';
import { root } from './bundledStage.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The unpacked browser's folder; null for an installed Chrome. */
    chromium: string | null;
  }
}

/** Unpacks the browser once. Two processes may do this at once, and neither sees a partial folder. */
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
      // The package unpacks into the temporary folder. It unpacks its libraries too if it believes that it runs on Lambda.
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
