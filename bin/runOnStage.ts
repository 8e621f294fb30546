import { StageError } from '../local/stage/stageError.ts';

/**
 * Runs a command on a stage's data, and sets its exit status. If the operator can fix the cause of an error, it is 2, and only
 * the message is printed.
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
