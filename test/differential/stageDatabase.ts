/**
 * The databases of stages for tests with another DynamoDB: `SVC_E2E_DYNAMODB=dynoxide`, or `moto`. Each data directory has one,
 * which its stages share.
 */
import { startDynoxide, startMoto, type OtherDatabase } from './databases.ts';

const starts: Readonly<Record<string, () => Promise<OtherDatabase | undefined>>> = {
  dynoxide: startDynoxide,
  moto: startMoto,
};

/** The other DynamoDB for tests; undefined for the stage's own. */
export const otherDynamodb: string | undefined = process.env['SVC_E2E_DYNAMODB'];

const running = new Map<string, OtherDatabase>();

/** Starts a data directory's database, unless it runs. Returns the variables with which a stage finds it. */
export async function variablesOfDatabase(dataDir: string): Promise<Readonly<Record<string, string>>> {
  if (otherDynamodb === undefined) return {};
  const database = running.get(dataDir) ?? (await starts[otherDynamodb]?.());
  if (database === undefined) throw new Error(`There is no database ${otherDynamodb} on this machine.`);
  running.set(dataDir, database);
  return { SVC_TEST_DYNAMODB_URL: database.url.replace(/\/$/, '') };
}

/** Stops a data directory's database, if it runs. */
export async function endDatabase(dataDir: string): Promise<void> {
  const database = running.get(dataDir);
  running.delete(dataDir);
  await database?.stop();
}
