/** `svc-queue open`: prints, or opens in a browser, a thing's address in the console. */
import { spawn } from 'node:child_process';
import { findConnection } from '../../../operate/api/connection.ts';
import { parseOpen } from '../../../operate/api/open.ts';
import { runCommand } from '../../runCommand.ts';

const openers: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['explorer'],
};

export function run(args: readonly string[]): Promise<void> {
  const { place, isBrowser } = parseOpen(args);
  return runCommand(() => {
    const { SVC_URL } = findConnection(process.env);
    const address = `${SVC_URL.replace(/\/$/, '')}/console${place}`;
    console.log(address);
    const [program, ...first] = openers[process.platform] ?? ['xdg-open'];
    if (isBrowser)
      spawn(program, [...first, address], { stdio: 'ignore', detached: true })
        .once('error', (error) => {
          console.error(`No browser could be opened: ${error.message}`);
        })
        .unref();
    return Promise.resolve(0);
  });
}
