/** The commands for users of an account: each reads its arguments, and returns what it does. */
import { spawn } from 'node:child_process';
import { completion } from '../../operate/api/completion.ts';
import { findConnection } from '../../operate/api/connection.ts';
import { login, parseLogin } from '../../operate/api/login.ts';
import { parseOpen } from '../../operate/api/open.ts';
import { parseApi } from '../../operate/api/options.ts';
import { runApi } from '../../operate/api/run.ts';
import { listen } from '../../operate/listen.ts';
import { parseListen } from '../../operate/listenOptions.ts';
import { runCommand } from '../runCommand.ts';

type Work = () => Promise<number> | number;

const openers: Readonly<Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>>> = {
  darwin: ['open'],
  win32: ['explorer'],
};

function openInBrowser(address: string): void {
  const [program, ...first] = openers[process.platform] ?? ['xdg-open'];
  spawn(program, [...first, address], { stdio: 'ignore', detached: true })
    .once('error', (error) => {
      console.error(`No browser could be opened: ${error.message}`);
    })
    .unref();
}

function api(args: readonly string[]): Work {
  const command = parseApi(args);
  const stop = new AbortController();
  // A single request just ends.
  if (command.flags.follow || command.flags.all || command.operation.isBulk)
    process.once('SIGINT', () => {
      stop.abort();
    });
  return () =>
    runApi(command, findConnection(process.env), {
      print: console.log,
      say: console.error,
      width: process.stdout.isTTY ? process.stdout.columns : undefined,
      signal: stop.signal,
    });
}

type Reads = (args: readonly string[], commands: readonly string[]) => Work | Promise<Work>;

/** Those that are no operations of the API. */
const others: Readonly<Record<string, Reads>> = {
  completion: (args, commands) => {
    const text = completion(args, commands);
    return () => {
      if (text !== '') console.log(text);
      return 0;
    };
  },
  listen: (args) => {
    const options = parseListen(args);
    return () => listen(findConnection(process.env), options);
  },
  login: (args) => {
    const { url } = parseLogin(args);
    return async () => {
      console.log(`The login is in ${await login(url)}; delete this file to log out.`);
      return 0;
    };
  },
  mcp: async (args) => {
    const { parseMcp, serveAgent } = await import('../../operate/mcp/server.ts');
    const { write = false } = parseMcp(args);
    return async () => {
      await serveAgent(findConnection(process.env), write);
      return 0;
    };
  },
  open: (args) => {
    const { place, isBrowser } = parseOpen(args);
    return () => {
      const address = `${findConnection(process.env).SVC_URL.replace(/\/$/, '')}/console${place}`;
      console.log(address);
      if (isBrowser) openInBrowser(address);
      return 0;
    };
  },
};

export async function run(
  [name = '', ...args]: readonly string[],
  commands: readonly string[],
): Promise<void> {
  const work = (await others[name]?.(args, commands)) ?? api([name, ...args]);
  await runCommand(async () => work());
}
