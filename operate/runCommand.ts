import { OperateError } from './operateError.ts';

/** Runs a command: its number is the exit status. Of an error that the operator can correct, the sentence alone is printed. */
export async function runCommand(
  command: () => Promise<number>,
  report: (error: unknown) => void,
): Promise<void> {
  try {
    process.exitCode = await command();
  } catch (error) {
    report(error instanceof OperateError ? error.message : error);
    process.exitCode = error instanceof OperateError ? 2 : 1;
  }
}
