/** A folder for what the CDK writes as tests synthesize apps. It goes with the run: each app writes a megabyte. */
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

/** A folder in it for one app. */
export const outFolder = (): string => mkdtempSync(join(inject('synthFolder'), 'app-'));
