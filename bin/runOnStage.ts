import { StageError } from '../local/stage/stageError.ts';

/**
 * Runs a command on a stage's data, and sets its exit status. It is 2 if the operator can fix the error, of which only the
 * message is then printed.
 */
export async function runOnStage(command: () => Promise<void>): Promise<void> {
  // Only the owner may read the command's files.
  process.umask(0o077);
  try {
    await command();
  } catch (error) {
    console.error(error instanceof StageError ? error.message : error);
    process.exitCode = error instanceof StageError ? 2 : 1;
  }
}
