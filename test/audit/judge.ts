/** Judges `npm audit`: known vulnerabilities without an exception, and exceptions without a vulnerability. */
import * as z from 'zod';

/** A known vulnerability that does no harm here. */
const exception = z.strictObject({
  id: z.string().regex(/^GHSA(-[0-9a-z]{4}){3}$/, 'must be the id of an advisory, GHSA-xxxx-xxxx-xxxx'),
  reason: z.string().min(20, 'must say in a sentence why it does no harm here'),
  /** The exception's last day. */
  expires: z.iso.date('must be a day, such as 2027-01-31'),
});
export type Exception = z.output<typeof exception>;

const exceptionsShape = z.array(exception);

/** @throws Error that names each wrong field, and what it must be */
export function readExceptions(text: string): readonly Exception[] {
  const read = exceptionsShape.safeParse(JSON.parse(text));
  if (!read.success) throw new Error(`The exceptions are not right:\n${z.prettifyError(read.error)}`);
  return read.data;
}

const advisory = z.object({
  source: z.union([z.number(), z.string()]),
  name: z.string(),
  title: z.string(),
  url: z.string(),
  severity: z.string(),
  range: z.string(),
});
const reportShape = z.object({
  auditReportVersion: z.literal(2),
  vulnerabilities: z.record(
    z.string(),
    // A text is the name of another vulnerable package, which makes this one vulnerable. The advisory is in
    // that one's entry.
    z.object({ via: z.array(z.union([z.string(), advisory])) }),
  ),
});
const failureShape = z.object({
  message: z.string().optional(),
  error: z.object({ code: z.string().optional(), summary: z.string().optional() }),
});

export interface Vulnerability {
  readonly id: string;
  readonly text: string;
}

export type Report =
  | { readonly kind: 'report'; readonly vulnerabilities: readonly Vulnerability[] }
  | { readonly kind: 'unreachable'; readonly reason: string };

/**
 * Parses the output of `npm audit --json`.
 *
 * @throws Error if npm failed on this machine, for example without a lock file
 */
export function readReport(output: string): Report {
  const json: unknown = JSON.parse(output);
  const report = reportShape.safeParse(json);
  if (report.success) {
    const advisories = Object.values(report.data.vulnerabilities).flatMap(({ via }) =>
      via.filter((cause) => typeof cause !== 'string'),
    );
    const byId = new Map(
      advisories.map(({ source, name, title, url, severity, range }) => {
        const id = /GHSA(-[0-9a-z]{4}){3}/.exec(url)?.[0] ?? source.toString();
        return [id, { id, text: `${id} (${severity}): ${name} ${range}: ${title}, ${url}` }];
      }),
    );
    return { kind: 'report', vulnerabilities: [...byId.values()] };
  }
  const { message, error } = failureShape.parse(json);
  // npm's error has a code if the problem is on this machine, and none if it is in the registry.
  if (error.code !== undefined) throw new Error(`npm audit failed: ${error.code}, ${error.summary ?? ''}`);
  return { kind: 'unreachable', reason: message ?? 'npm gives no reason' };
}

/**
 * @param today the day, such as `2026-11-30`
 * @returns a sentence for each problem; empty if all is well
 */
export function complaintsAbout(
  vulnerabilities: readonly Vulnerability[],
  exceptions: readonly Exception[],
  today: string,
): readonly string[] {
  const byId = new Map(exceptions.map((one) => [one.id, one]));
  const found = new Set(vulnerabilities.map(({ id }) => id));
  return [
    ...vulnerabilities.flatMap(({ id, text }) => {
      const excepted = byId.get(id);
      if (excepted === undefined) return [text];
      return excepted.expires < today ? [`${text}. Its exception has ended on ${excepted.expires}.`] : [];
    }),
    ...exceptions
      .filter(({ id }) => !found.has(id))
      .map(({ id }) => `${id} has an exception, but no installed package still has it: take it out.`),
  ];
}
