/** The messages between a measuring process and its parent. */
import * as z from 'zod/mini';

/** A bundle's `index.mjs` as a URL. */
const bundle = z.url();

export const importTask = z.object({ bundle });
export const importResult = z.object({
  wallMs: z.number(),
  cpuMs: z.number(),
});

export const invokeTask = z.object({
  bundle,
  /** Events until the code is warm, and then those of each round. */
  warmUp: z.array(z.unknown()),
  rounds: z.array(z.array(z.unknown())),
});
export const invokeResult = z.object({
  /** CPU milliseconds of each round, in user and system mode, of all threads. */
  roundsCpuMs: z.array(z.number()),
});

/** Answers the one task that this process is started for. */
export function onTask<Task extends z.ZodMiniType>(
  task: Task,
  work: (task: z.infer<Task>) => Promise<object>,
): void {
  process.once('message', (message) => {
    void work(task.parse(message)).then((result) => process.send?.(result, () => process.exit()));
  });
}

/** CPU milliseconds that this process has taken since a moment. */
export function cpuMsSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}
