/** `svc-queue open`: the address of a thing in the console. */
import { Ending, command, parse } from '../../cli/commandLine.ts';
import { href } from '../../console/src/address.ts';

/** The console's lists, each with the beginning of its things' ids, if they have one. */
const lists: Readonly<Record<string, string | undefined>> = {
  overview: undefined,
  messages: 'msg_',
  upcoming: undefined,
  'dead-letters': 'dlq_',
  schedules: undefined,
  'url-groups': undefined,
  queues: undefined,
  'flow-control': undefined,
  runs: 'wfr_',
  alarms: undefined,
  keys: undefined,
  audit: undefined,
};

const listOf = (id: string): string | undefined =>
  Object.entries(lists).find(([, start]) => start !== undefined && id.startsWith(start))?.[0];

/** @throws Ending */
export function parseOpen(args: readonly string[]): { readonly place: string; readonly isBrowser: boolean } {
  const read = parse(
    command('open', 'Prints the address of a message or another thing in the console.')
      .argument('[place]', `an id, or ${Object.keys(lists).join(', ')}`, 'overview')
      .argument('[name]', 'of a schedule, a URL group, a queue or a flow-control key')
      .option('--browser', 'open it in a browser'),
    args,
  );
  const [place, name] = read.processedArgs;
  const list = listOf(place);
  if (list === undefined && !Object.hasOwn(lists, place))
    throw new Ending(`The place is '${place}'; allowed are an id, ${Object.keys(lists).join(', ')}.`, 2);
  const path = list === undefined ? [place, ...(name === undefined ? [] : [name])] : [list, place];
  return { place: href(path), isBrowser: read.opts().browser ?? false };
}
