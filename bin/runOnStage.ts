import { StageError } from '../local/stage/stageError.ts';

/** Runs a command on a stage's data, and sets its exit status: 2, with a sentence alone, for what the operator can correct. */
export async function runOnStage(command: () => Promise<void>): Promise<void> {
  // Only its owner may read the files that it makes.
  process.umask(0o077);
  try {
    await command();
  } catch (error) {
    console.error(error instanceof StageError ? error.message : error);
    process.exitCode = error instanceof StageError ? 2 : 1;
  }
}
