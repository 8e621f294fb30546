/** `npm run migrate`: copies what an account has from one QStash-compatible API to another. */
import { MigrationError } from '../migrate/migrationError.ts';
import { parseOptions, usage } from '../migrate/options.ts';
import { migrate } from '../migrate/run.ts';

/** Prints an error: its sentence alone when the person who started it can correct the cause, otherwise with its stack. */
function fail(error: unknown, exitCode: number): void {
  console.error(error instanceof MigrationError ? error.message : error);
  process.exitCode = exitCode;
}

function readOptions(): ReturnType<typeof parseOptions> | undefined {
  try {
    return parseOptions(process.argv.slice(2), process.env);
  } catch (error) {
    fail(error, error instanceof MigrationError ? 2 : 1);
    return undefined;
  }
}

const options = readOptions();
if (options === 'help') {
  console.log(usage);
} else if (options !== undefined) {
  try {
    process.exitCode = await migrate(options, (line) => {
      console.log(line);
    });
  } catch (error) {
    fail(error, 1);
  }
}
