/** `svc-queue start`: the whole service on this machine. */
import { resolve } from 'node:path';
import { requireData } from '../../local/backup/files.ts';
import { memberVariable } from '../../local/cluster/protocol.ts';
import { pausedSentence } from '../../local/disk/readiness.ts';
import { devModeSentence } from '../../local/stage/devMode.ts';
import { parseOptions, type Options } from '../../local/stage/options.ts';
import { isOpen } from '../../local/network/network.ts';
import { startStage, type Stage } from '../../local/stage/stage.ts';
import { toLines } from '../../local/stage/variables.ts';
import { StageError } from '../../local/stage/stageError.ts';
import { jsonLines, sentences, type StageLog } from '../stageLog.ts';

type Fail = (error: unknown, exitCode: number) => never;

const isForApplications = ([name]: readonly [string, string]): boolean => name.startsWith('QSTASH_');

/** A stage, or several processes of it. */
type Service = Pick<Stage, 'url' | 'variables' | 'stop'> & { readonly replaceAll?: () => Promise<void> };

/** Says how to use the stage. A server's output is stored, so it contains no secrets. */
function announce(
  { url, variables }: Service,
  { dataDirectory, dev, isPaused, network }: Options,
  log: StageLog,
): void {
  if (isPaused) log.info(pausedSentence);
  if (isOpen(network)) {
    log.info(
      `The service is ready at ${url}. Tokens and keys are in ${dataDirectory ?? ''}/env: an application gets its lines QSTASH_… only. The console is at ${url}/console.`,
    );
    return;
  }
  const where =
    dataDirectory === undefined ? 'It keeps nothing.' : `These lines are also in ${dataDirectory}/env.`;
  const who = dev ? `\n${devModeSentence(url)}` : '';
  const all = Object.entries(variables);
  const own = Object.fromEntries(all.filter((one) => !isForApplications(one)));
  const forApplications = Object.fromEntries(all.filter(isForApplications));
  console.log(
    `The service is ready; Ctrl-C ends it. ${where}${who}\n\n${toLines(own)}\n` +
      `For the .env file of an application:\n\n${toLines(forApplications)}\n` +
      `Look at it in a browser: ${url}/console. Sign in with the token above, SVC_TOKEN.\n`,
  );
}

/**
 * Stops the stage on a signal, but not before it has started, because its parts are stopped in order. Without a terminal, whose
 * end sends SIGHUP, that signal replaces the processes of a stage that has several.
 */
function stopOnSignals(starting: Promise<Service>, fail: Fail): void {
  let stopping = false;
  const stop = (): void => {
    // Under npm, Ctrl-C arrives twice: from the terminal and from npm.
    if (stopping) return;
    stopping = true;
    starting
      .then((stage) => stage.stop())
      .then(() => process.exit(0))
      .catch((error: unknown) => fail(error, 1));
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, stop);
  process.on('SIGHUP', () => {
    starting
      .then(({ replaceAll }) => {
        if (replaceAll === undefined || process.stdout.isTTY) stop();
        else return replaceAll();
      })
      .catch((error: unknown) => fail(error, 1));
  });
  stopWithNpm(stop);
}

/** Milliseconds between checks whether npm still runs. */
const npmCheckMs = 500;

/**
 * Stops a stage whose npm or npx has ended, because a killed npm passes no signal on. The stage is npm's child, because the
 * script in `package.json` replaces the shell (`exec`). Other stages may outlive their parent.
 */
function stopWithNpm(stop: () => void): void {
  if (!['start', 'npx'].includes(process.env['npm_lifecycle_event'] ?? '')) return;
  const npm = process.ppid;
  setInterval(() => {
    if (process.ppid !== npm) stop();
  }, npmCheckMs).unref();
}

async function startService(options: Parameters<typeof startStage>[0]): Promise<Service> {
  const { processes, dataDirectory, isPaused } = options;
  if (isPaused && dataDirectory !== undefined) requireData(resolve(dataDirectory));
  if (processes === 1 || dataDirectory === undefined) return startStage(options);
  const { startPrimary } = await import('../../local/cluster/primary.ts');
  return startPrimary({ ...options, dataDirectory });
}

export async function run(args: readonly string[]): Promise<void> {
  // A closed terminal refuses output, which must not end attempts in flight.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

  const options = parseOptions(args, process.env);
  // Only the owner may read the stage's files, including the store.
  process.umask(0o077);
  const log = isOpen(options.network) ? jsonLines : sentences;
  const fail: Fail = (error, exitCode) => {
    log.error(error);
    process.exit(exitCode);
  };
  process.on('uncaughtException', (error) => {
    log.error(error);
    // An orderly exit could wait for ever for a transaction of the store.
    process.kill(process.pid, 'SIGKILL');
  });
  const says = { announce: log.info, report: log.error };
  if (process.env[memberVariable] !== undefined) {
    const { runMember } = await import('../../local/cluster/member.ts');
    runMember({ ...options, ...says });
    return;
  }
  const starting = startService({ ...options, ...says });
  stopOnSignals(starting, fail);
  try {
    announce(await starting, options, log);
  } catch (error) {
    fail(error, error instanceof StageError ? 2 : 1);
  }
}
