import { vi } from 'vitest';
import * as z from 'zod/mini';

/** A line of metrics that CloudWatch reads from the log. */
const line = z.looseObject({
  _aws: z.object({
    CloudWatchMetrics: z.array(
      z.object({
        Namespace: z.string(),
        Dimensions: z.array(z.array(z.string())),
        Metrics: z.array(z.object({ Name: z.string(), Unit: z.string() })),
      }),
    ),
  }),
});
export type MetricLine = z.infer<typeof line>;

/** Collects the lines of metrics that are logged while something runs. */
export async function metricLines(work: () => Promise<unknown>): Promise<readonly MetricLine[]> {
  const lines: string[] = [];
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    lines.push(String(chunk));
    return true;
  });
  try {
    await work();
  } finally {
    write.mockRestore();
  }
  return lines
    .filter((text) => text.includes('CloudWatchMetrics'))
    .map((text) => line.parse(JSON.parse(text)));
}

const values = z.union([z.number(), z.array(z.number())]);

/** Each metric's values in all lines, as CloudWatch would read them. */
export function metricValues(lines: readonly MetricLine[]): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, number[]>();
  for (const one of lines) {
    for (const { Name } of one._aws.CloudWatchMetrics.flatMap(({ Metrics }) => Metrics)) {
      const added = [values.parse(one[Name])].flat();
      found.set(Name, [...(found.get(Name) ?? []), ...added]);
    }
  }
  return found;
}

/** The sums of metrics that are written while something runs. */
export async function metricSums(work: () => Promise<unknown>): Promise<Readonly<Record<string, number>>> {
  const all = metricValues(await metricLines(work));
  return Object.fromEntries([...all].map(([name, list]) => [name, list.reduce((sum, one) => sum + one, 0)]));
}
