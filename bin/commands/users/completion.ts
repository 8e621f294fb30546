/** `svc-queue completion`: prints what a shell needs to complete the commands. */
import { completion } from '../../../operate/api/completion.ts';

export function run(args: readonly string[], commands: readonly string[]): Promise<void> {
  const text = completion(args, commands);
  if (text !== '') console.log(text);
  return Promise.resolve();
}
