/** A folder for the CDK's output in tests, about a megabyte per app. It is deleted after the run. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject } from 'vitest';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    synthFolder: string;
  }
}

export default function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'svc-synth-'));
  project.provide('synthFolder', folder);
  return () => {
    rmSync(folder, { recursive: true });
  };
}

/** The same for a program such as `npm run bench idle`, without a test run. */
let programFolder: string | undefined;
function folderOfProgram(): string {
  if (programFolder !== undefined) return programFolder;
  const folder = mkdtempSync(join(tmpdir(), 'svc-synth-'));
  process.once('exit', () => {
    rmSync(folder, { recursive: true });
  });
  programFolder = folder;
  return folder;
}

export const outFolder = (): string =>
  mkdtempSync(join(process.env['VITEST'] === undefined ? folderOfProgram() : inject('synthFolder'), 'app-'));
