/** The process that `ownProcess.ts` starts as `svc-queue function`. */
import * as z from 'zod/mini';
import { handlerModules, type FunctionName } from './handlers.ts';
import { loadFunction } from './lambda.ts';

const isFunction = (name: string): name is FunctionName => Object.hasOwn(handlerModules, name);
const optionsIn = z.object({ region: z.string(), timeoutMs: z.number() });

export async function run([name = '', options = '']: readonly string[]): Promise<void> {
  if (!isFunction(name)) throw new Error(`There is no function ${name}.`);
  process.on('disconnect', () => process.exit(1));
  const event = new Promise<unknown>((resolve) => process.once('message', resolve));
  const { invoke } = await loadFunction(name, optionsIn.parse(JSON.parse(options)));
  try {
    process.send?.({ result: await invoke(z.object({ event: z.unknown() }).parse(await event).event) });
  } catch (error) {
    process.send?.({ error: String(error) });
  }
}
