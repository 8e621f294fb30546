/** `svc-queue migrate`: copies an account's settings from one QStash-compatible API to another. */
import { MigrationError } from '../../migrate/migrationError.ts';
import { parseOptions } from '../../migrate/options.ts';
import { migrate } from '../../migrate/run.ts';

export async function run(args: readonly string[]): Promise<void> {
  const options = parseOptions(args, process.env);
  try {
    process.exitCode = await migrate(options, (line) => {
      console.log(line);
    });
  } catch (error) {
    console.error(error instanceof MigrationError ? error.message : error);
    process.exitCode = 1;
  }
}
