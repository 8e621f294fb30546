/** The app of `compose.yaml`, on this machine. */
import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import type { RunningImage } from './chroot.ts';
import { freePort } from '../support/freePort.ts';

const program = resolve(import.meta.dirname, '../../examples/compose/app.mjs');

/** Resolves when the app has received the message that it sent to itself. */
export async function sendThroughApp({ url }: RunningImage, data: string): Promise<void> {
  const app = spawn(process.execPath, [`--env-file=${join(data, 'env')}`, program], {
    env: { ...process.env, SVC_URL: url, APP_URL: `http://127.0.0.1:${await freePort()}` },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  try {
    await new Promise<void>((resolve, reject) => {
      app.stdout.setEncoding('utf8').on('data', (part: string) => {
        output += part;
        if (output.includes('/orders came: {"order":1}')) resolve();
      });
      app.once('exit', () => {
        reject(new Error(`The app ended:\n${output}`));
      });
    });
  } finally {
    app.kill();
  }
}
