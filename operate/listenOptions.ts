import { InvalidArgumentError } from '@commander-js/extra-typings';
import { command, parse, textLike, wholeNumber } from '../cli/commandLine.ts';

export type ListenOptions = ReturnType<typeof parseListen>;

function targetIn(text: string): URL {
  const port = Number(text);
  const url = /^\d{1,5}$/.test(text) && port > 0 && port < 65_536 ? `http://127.0.0.1:${port}/` : text;
  if (/^https?:\/\//.test(url) && URL.canParse(url)) return new URL(url);
  throw new InvalidArgumentError('Allowed is a port, or a URL that starts with http:// or https://.');
}

const about = `Takes the messages whose destination is pull:<name> and makes them as requests to a local address, whose answers are
those of the messages. Several with one name share its messages.`;

const examples = `
Examples:
  svc-queue listen 3000                         pull:listen to http://127.0.0.1:3000/
  svc-queue listen 3000 --name laptop --group orders
  svc-queue listen https://box.lan:8443/jobs --name gpu --parallel 2 --within 2h --skip-verify

The service is that of SVC_URL and SVC_TOKEN, of the local stage of this folder, or of svc-queue login. A token for publishing is enough if its destinations
have pull:<name>.`;

/** @throws Ending */
export function parseListen(args: readonly string[]) {
  const read = parse(
    command('listen', about)
      .argument('<target>', 'a port of this machine, or a URL', targetIn)
      .option(
        '--name <name>',
        'the name in pull:<name>',
        textLike(/^[\w.-]{1,100}$/, '1 to 100 letters, digits, ".", "_" and "-"'),
        'listen',
      )
      .option('--group <group>', 'a URL group that has pull:<name> as an endpoint while this runs')
      .option('--parallel <number>', 'requests at once', wholeNumber(1, 100), 10)
      .option(
        '--within <duration>',
        'how long a request may take without a sign of life',
        textLike(/^\d+[smhd]$/, 'a duration such as 5m'),
        '1m',
      )
      .option('--skip-verify', 'accept any certificate of the target')
      .addHelpText('after', examples),
    args,
  );
  const [target] = read.processedArgs;
  return { target, ...read.opts() };
}
