import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { chromium, type Browser, type BrowserContextOptions, type Locator, type Page } from 'playwright-core';
import { afterAll, afterEach, expect, inject } from 'vitest';
import * as z from 'zod/mini';
import { limitForHangsMs } from './limits.ts';
import { basic, service } from './service.ts';

declare const location: { readonly protocol: string };

/** One browser for all files of a process. */
let started: Promise<Browser> | undefined;

function browser(): Promise<Browser> {
  started ??= launch();
  return started;
}

async function launch(): Promise<Browser> {
  const folder = inject('chromium');
  if (folder === null) return chromium.launch({ channel: 'chrome', timeout: limitForHangsMs });
  return chromium.launch({
    executablePath: join(folder, 'chromium'),
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
    env: {
      ...process.env,
      LD_LIBRARY_PATH: join(folder, 'al2023/lib'),
      XDG_DATA_HOME: join(folder, 'fonts'),
    },
    timeout: limitForHangsMs,
  });
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface OpenOptions extends BrowserContextOptions {
  /** The service's base URL. Default: the shared service. */
  readonly base?: string;
  /** The part of the address after `#`. */
  readonly at?: string;
  /** Null opens the console without a token. */
  readonly token?: string | null;
  readonly isOperator?: boolean;
  /** Expected error statuses. Browsers report each failed request as an error in their log. */
  readonly refusals?: readonly number[];
  /** Whether the test disconnects the page from the service. */
  readonly isCutOff?: boolean;
}

let complaints: string[] = [];
const open: Page[] = [];

/** Opens the console in a window with separate storage. Errors on the page fail the test. */
export async function openConsole(options: OpenOptions = {}): Promise<Page> {
  const {
    base = service.url,
    at = '#/',
    token = service.token,
    isOperator = false,
    refusals = [],
    isCutOff = false,
    ...context
  } = options;
  const page = await (await browser()).newPage({ timezoneId: 'Europe/Berlin', locale: 'en-GB', ...context });
  open.push(page);
  page.setDefaultTimeout(limitForHangsMs);
  page.on('pageerror', (error) => complaints.push(`${page.url()}: ${error.stack ?? error.message}`));
  page.on('console', (message) => {
    if (message.type() !== 'error' && message.type() !== 'warning') return;
    if (refusals.some((status) => message.text().includes(`status of ${status} `))) return;
    if (isCutOff && message.text().includes('net::ERR_FAILED')) return;
    complaints.push(`${page.url()}: ${message.text()}`);
  });
  const { user, password } = service.management;
  const session = [
    ...(token === null ? [] : [['svc.messaging', `Bearer ${token}`]]),
    ...(isOperator ? [['svc.management', basic(user, password)]] : []),
  ];
  // The storage is filled only if it is empty, so that a page stays signed out when it is reloaded.
  await page.addInitScript((pairs) => {
    // The blank page, before and after the console, has no storage.
    if (location.protocol === 'about:') return;
    if (sessionStorage.getItem('test.begun') !== null) return;
    sessionStorage.setItem('test.begun', '');
    for (const [key = '', value = ''] of pairs) sessionStorage.setItem(key, value);
  }, session);
  await page.goto(`${base}/console${at}`);
  return page;
}

afterEach(async ({ task }) => {
  const pages = open.splice(0);
  const said = complaints;
  complaints = [];
  if (task.result?.state === 'fail') for (const page of pages) said.push(await seenOn(page));
  await Promise.all(pages.map((page) => page.context().close()));
  expect(said).toEqual([]);
});
afterAll(async () => {
  // Files of a process share the browser, and none knows whether it is the last.
  await started?.then((one) => one.close());
  started = undefined;
});

const seenOn = async (page: Page): Promise<string> =>
  `${page.url()} shows:\n${await page.locator('body').ariaSnapshot()}`;

const violations = z.array(
  z.object({
    id: z.string(),
    impact: z.nullable(z.string()),
    help: z.string(),
    nodes: z.array(z.object({ html: z.string(), failureSummary: z.optional(z.string()) })),
  }),
);

/** Finds accessibility problems for users with a screen reader, a keyboard or weak eyes. */
export async function barriersOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(axeSource);
  const found = violations.parse(
    await page.evaluate(
      "axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] }).then(({ violations }) => violations)",
    ),
  );
  return found.map(
    ({ id, impact, nodes }) =>
      `${id} (${impact}): ${nodes.map(({ html, failureSummary = '' }) => `${html} ${failureSummary}`).join('; ')}`,
  );
}

/** The error under a form field. */
export const wrongUnder = (page: Page, label: string): Locator =>
  page
    .locator('.field')
    .filter({ has: page.getByLabel(label, { exact: true }) })
    .locator('.wrong');

/** Finds what can be scrolled sideways: the page, a table or a dialogue. */
export const scrolledSideways = (page: Page): Promise<readonly string[]> =>
  page.evaluate<string[]>(
    `[...document.querySelectorAll('html, .table-frame, dialog')].flatMap((of) => of.scrollWidth > of.clientWidth + 1 ? of.tagName + ' ' + of.scrollWidth + ' > ' + of.clientWidth + ': ' + of.textContent.slice(0, 60) : [])`,
  );

export const isTooWide = (page: Page): Promise<boolean> =>
  page.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth');
