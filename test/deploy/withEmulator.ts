/** Runs a function against a separate emulator. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { functionLogs } from './aws.ts';
import { regions } from './cdk.ts';
import { installEmulator, startEmulator } from './emulator.ts';
import { freePort, openFront } from './front.ts';

export interface Running {
  /** Where the emulator listens. */
  readonly port: number;
  /** The URL of all of AWS. */
  readonly awsUrl: string;
  /** A folder for files. */
  readonly scratch: string;
  /** Prints a sentence with the seconds since the start. */
  readonly say: (text: string) => void;
}

/** Starts an emulator, runs the function and stops the emulator. After a failure it prints the last output of both. */
export async function withEmulator(use: (running: Running) => Promise<void>): Promise<void> {
  const started = Date.now();
  const say = (text: string): void => {
    console.log(`[${((Date.now() - started) / 1000).toFixed(1).padStart(6)} s] ${text}`);
  };
  const python = await installEmulator();
  say('emulator installed');
  // The system’s temporary folder, because no parent folder of it is a package: see `startEmulator`.
  const scratch = mkdtempSync(join(tmpdir(), 'svc-deploy-'));
  const port = await freePort();
  const aws = await openFront(port);
  try {
    const emulator = await startEmulator({
      python,
      port,
      publicPort: aws.port,
      scratch: join(scratch, 'emulator'),
    });
    say('emulator started');
    try {
      await use({ port, awsUrl: aws.url, scratch, say });
    } catch (error) {
      console.error(`The emulator's last lines:\n${emulator.log(40)}\n`);
      for (const region of regions) {
        const lines = await functionLogs(aws.url, region, 60).catch(String);
        console.error(`The functions' last lines in ${region}:\n${lines}\n`);
      }
      throw error;
    } finally {
      await emulator.stop();
    }
  } finally {
    await aws.close();
    rmSync(scratch, { recursive: true, force: true, maxRetries: 3 });
  }
}
